use std::{future::Future, sync::Arc, time::Duration};

use super::{DynHandler, Text, Variables, common, entry};
#[cfg(feature = "auth")]
use crate::auth::ItemGuard;
use crate::{
    call::context::Context,
    call::extract::{Arguments, Call},
    call::reply::{ResourceReply, resource_reply},
    catalog::{
        EntryKind, ResourceEntry,
        handle::{EntryBox, Item},
    },
    item::template::Template,
    limits::Wanted,
};

/// A resource made by value, for [`Handle::add`](crate::Handle::add): at a fixed URI, or a template (RFC 6570) whose
/// variables the handler gets as texts.
///
/// ```
/// use mcp_runtime::{Variables, prelude::*};
///
/// let page = Resource::new("pages://{name}", "page")
///     .mime_type("text/markdown")
///     .handler(async |variables: Variables, _: Context| format!("# {}", variables["name"]));
/// # let _ = page;
/// ```
pub struct Resource {
    uri: Text,
    name: Text,
    title: Option<Text>,
    description: Option<Text>,
    order: i32,
    timeout: Option<Duration>,
    wanted: Wanted,
    #[cfg(feature = "auth")]
    guard: ItemGuard,
    mime_type: Option<Text>,
    handler: Option<DynHandler>,
}
common!(Resource);

impl Resource {
    /// Creates a resource with this name, at this URI or for this template. It needs a [`handler`](Self::handler) before it can be added.
    pub fn new(uri: impl Into<Text>, name: impl Into<Text>) -> Self {
        Self {
            uri: uri.into(),
            name: name.into(),
            title: None,
            description: None,
            order: 0,
            timeout: None,
            wanted: Wanted::default(),
            #[cfg(feature = "auth")]
            guard: ItemGuard::default(),
            mime_type: None,
            handler: None,
        }
    }

    /// Sets the media type.
    #[must_use]
    pub fn mime_type(mut self, mime_type: impl Into<Text>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }

    /// Sets the handler, which returns the contents of the resource. It gets the variables of the template; a fixed URI has none.
    #[must_use]
    pub fn handler<F, R>(mut self, handler: F) -> Self
    where
        F: Fn(Variables, Context) -> R + Send + Sync + 'static,
        R: Future<Output: ResourceReply> + Send + 'static,
    {
        self.handler = Some(Arc::new(move |call| {
            let work = handler(text_arguments(&call), call.context.get().clone());
            call.future(move |context| async move { resource_reply(&context, work.await) })
        }));
        self
    }
}

fn text_arguments(call: &Call<'_>) -> Variables {
    match &call.arguments {
        Arguments::Text(members) => {
            members.iter().map(|it| (it.name.to_string(), it.value.to_string())).collect()
        }
        Arguments::Noted { .. } | Arguments::Json(_) => Variables::new(),
    }
}

impl Item for Resource {
    fn into_entry(mut self) -> Result<EntryBox, String> {
        let template =
            if self.uri.contains('{') { Some(Template::parse(&self.uri)?) } else { None };
        let kind = EntryKind::Resource(ResourceEntry {
            uri: self.uri.clone(),
            template,
            mime_type: self.mime_type.take(),
            size: None,
            subscribe: true,
            cache: None,
            arguments: Vec::new(),
        });
        let entry = entry(self.name.clone(), kind, self.handler.take())?;
        self.finish(entry)
    }
}
