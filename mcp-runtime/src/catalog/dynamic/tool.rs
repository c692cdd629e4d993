use std::{future::Future, sync::Arc, time::Duration};

use schemars::JsonSchema;

use super::{DynHandler, Text, common, entry};
#[cfg(feature = "auth")]
use crate::auth::ItemGuard;
use crate::{
    call::context::Context,
    call::reply::{OutputSchema, ToolReply, tool_reply},
    catalog::{
        EntryKind, ToolEntry,
        entry::SchemaText,
        handle::{EntryBox, Item},
        schemas,
    },
    item::Constant,
    limits::Wanted,
    model::{TaskSupport, tool_name},
    schema::{self, SchemaProfile},
};

/// A tool made by value, for [`Handle::add`](crate::Handle::add).
///
/// ```
/// use mcp_runtime::prelude::*;
///
/// #[data]
/// struct Sum {
///     a: i64,
///     b: i64,
/// }
///
/// let add = Tool::new("add").description("Adds").handler_with(async |sum: Sum, _: Context| sum.a + sum.b);
/// # let _ = add;
/// ```
pub struct Tool {
    name: Text,
    title: Option<Text>,
    description: Option<Text>,
    order: i32,
    timeout: Option<Duration>,
    wanted: Wanted,
    #[cfg(feature = "auth")]
    guard: ItemGuard,
    input: Option<SchemaText>,
    output: Option<OutputSchema>,
    handler: Option<DynHandler>,
    task: Option<TaskSupport>,
    profile: Option<SchemaProfile>,
}
common!(Tool);

impl Tool {
    /// Creates a tool with this name: 1 to 128 letters, digits, `_`, `-` and `.`. It needs a [`handler`](Self::handler) or a
    /// [`handler_with`](Self::handler_with) before it can be added. If several are set, the last one counts.
    pub fn new(name: impl Into<Text>) -> Self {
        Self {
            name: name.into(),
            title: None,
            description: None,
            order: 0,
            timeout: None,
            wanted: Wanted::default(),
            #[cfg(feature = "auth")]
            guard: ItemGuard::default(),
            input: None,
            output: None,
            handler: None,
            task: None,
            profile: None,
        }
    }

    /// Lets calls go on as tasks.
    #[must_use]
    pub fn task(mut self, support: TaskSupport) -> Self {
        self.task = Some(support);
        self
    }

    /// Sets the profile of the tool's schemas. Default: the profile of the server
    /// ([`Builder::schema_profile`](crate::Builder::schema_profile)).
    #[must_use]
    pub fn schema_profile(mut self, profile: SchemaProfile) -> Self {
        self.profile = Some(profile);
        self
    }

    /// Sets a handler that takes no arguments.
    #[must_use]
    pub fn handler<F, R>(mut self, handler: F) -> Self
    where
        F: Fn(Context) -> R + Send + Sync + 'static,
        R: Future<Output: ToolReply> + Send + 'static,
    {
        self.output = <R::Output as ToolReply>::OUTPUT;
        self.input = Some(Box::new(|profile| schemas::input(&[], &Constant::NONE, false, profile)));
        self.handler = Some(Arc::new(move |mut call| {
            if !call.accept() {
                return call.refuse();
            }
            let work = handler(call.context.get().clone());
            call.future(move |_| async move { tool_reply(work.await) })
        }));
        self
    }

    /// Sets a handler that takes the fields of `T` as arguments. Their doc comments are the descriptions. `#[data]` on `T` adds all that
    /// `T` needs.
    #[must_use]
    pub fn handler_with<T, F, R>(mut self, handler: F) -> Self
    where
        T: serde::de::DeserializeOwned + JsonSchema + Send + 'static,
        F: Fn(T, Context) -> R + Send + Sync + 'static,
        R: Future<Output: ToolReply> + Send + 'static,
    {
        self.output = <R::Output as ToolReply>::OUTPUT;
        self.input = Some(Box::new(|profile| schema::input_of::<T>(profile).map(Into::into)));
        self.handler = Some(Arc::new(move |mut call| {
            let arguments = crate::call::extract::spread_arguments::<T>(&mut call);
            let (true, Some(arguments)) = (call.accept(), arguments) else { return call.refuse() };
            let work = handler(arguments, call.context.get().clone());
            call.future(move |_| async move { tool_reply(work.await) })
        }));
        self
    }
}

impl Item for Tool {
    fn into_entry(mut self) -> Result<EntryBox, String> {
        tool_name(&self.name)?;
        let input = self.input.take().ok_or_else(|| format!("`{}` has no handler", self.name))?;
        let mut tool = ToolEntry::new(input, self.output, self.profile);
        tool.task = self.task;
        let kind = EntryKind::Tool(tool);
        let mut entry = entry(self.name.clone(), kind, self.handler.take())?;
        entry.judge().map_err(|it| format!("`{}`: {}", self.name, it.join("; ")))?;
        self.finish(entry)
    }
}
