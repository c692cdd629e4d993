//! Items made while the server runs, by value instead of by attribute.

use std::{borrow::Cow, future::Future, sync::Arc, time::Duration};

use schemars::JsonSchema;

use super::{
    Entry, EntryKind, Handler, PromptArgument, PromptEntry, ResourceEntry, ToolEntry,
    entry::SchemaText,
    handle::{EntryBox, Item},
    schemas,
};
use crate::{
    context::Context,
    extract::{Arguments, Call, Names, Running},
    item::template::Template,
    reply::{PromptReply, ResourceReply, ToolReply, prompt_reply, resource_reply, tool_reply},
    schema::Form,
};

type Text = Cow<'static, str>;
type PromptHandler = Box<dyn Fn(Variables, Call<'_>) -> Running + Send + Sync>;
type DynHandler = Arc<dyn for<'a> Fn(Call<'a>) -> Running + Send + Sync>;

fn entry(name: Text, kind: EntryKind, handler: Option<DynHandler>) -> Result<Entry, String> {
    let handler = handler.ok_or_else(|| format!("`{name}` has no handler"))?;
    Ok(Entry {
        name,
        title: None,
        description: None,
        icons: &[],
        order: 0,
        timeout: None,
        audience: &[],
        priority: None,
        meta: Vec::new(),
        origin: None,
        identity: None,
        handler: Handler::Dynamic(handler),
        names: Names::default(),
        needs_meta: true,
        kind,
    })
}

macro_rules! common {
    ($ty:ident) => {
        impl $ty {
            /// What people are shown instead of the name.
            #[must_use]
            pub fn title(mut self, title: impl Into<Text>) -> Self {
                self.title = Some(title.into());
                self
            }

            /// What it does, for the model.
            #[must_use]
            pub fn description(mut self, description: impl Into<Text>) -> Self {
                self.description = Some(description.into());
                self
            }

            /// Its place in the list: lower comes first, then names decide.
            #[must_use]
            pub fn order(mut self, order: i32) -> Self {
                self.order = order;
                self
            }

            /// How long a call may take.
            #[must_use]
            pub fn timeout(mut self, timeout: Duration) -> Self {
                self.timeout = Some(timeout);
                self
            }

            fn finish(self, mut entry: Entry) -> EntryBox {
                entry.title = self.title;
                entry.description = self.description;
                entry.order = self.order.into();
                entry.timeout = self.timeout;
                EntryBox(entry)
            }
        }

        impl std::fmt::Debug for $ty {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!(stringify!($ty), "({})"), self.name)
            }
        }
    };
}

/// A tool made by value, for [`Handle::add`](super::Handle::add).
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
    input: Option<SchemaText>,
    output: Option<crate::reply::OutputSchema>,
    handler: Option<DynHandler>,
}
common!(Tool);

impl Tool {
    /// A tool of this name: 1 to 128 letters, digits, `_`, `-` and `.`. It needs a [`handler`](Self::handler) or a
    /// [`handler_with`](Self::handler_with) before it can be added; the last one said counts.
    pub fn new(name: impl Into<Text>) -> Self {
        Self {
            name: name.into(),
            title: None,
            description: None,
            order: 0,
            timeout: None,
            input: None,
            output: None,
            handler: None,
        }
    }

    /// What it does, without arguments.
    #[must_use]
    pub fn handler<F, R>(mut self, handler: F) -> Self
    where
        F: Fn(Context) -> R + Send + Sync + 'static,
        R: Future<Output: ToolReply> + Send + 'static,
    {
        self.output = <R::Output as ToolReply>::OUTPUT;
        self.input = Some(Box::new(|| schemas::input(&[], false, Form::Compatible)));
        self.handler = Some(Arc::new(move |mut call| {
            if !call.accept() {
                return call.refuse();
            }
            let work = handler(call.context.clone());
            call.future(move |_| async move { tool_reply(work.await) })
        }));
        self
    }

    /// What it does, with the fields of `T` as arguments; their doc comments are the descriptions. `#[data]` on `T` is enough.
    #[must_use]
    pub fn handler_with<T, F, R>(mut self, handler: F) -> Self
    where
        T: serde::de::DeserializeOwned + JsonSchema + Send + 'static,
        F: Fn(T, Context) -> R + Send + Sync + 'static,
        R: Future<Output: ToolReply> + Send + 'static,
    {
        self.output = <R::Output as ToolReply>::OUTPUT;
        self.input = Some(Box::new(schemas::input_of::<T>));
        self.handler = Some(Arc::new(move |mut call| {
            let arguments = crate::extract::spread_arguments::<T>(&mut call);
            let (true, Some(arguments)) = (call.accept(), arguments) else { return call.refuse() };
            let work = handler(arguments, call.context.clone());
            call.future(move |_| async move { tool_reply(work.await) })
        }));
        self
    }
}

impl Item for Tool {
    fn into_entry(mut self) -> Result<EntryBox, String> {
        check_tool_name(&self.name)?;
        let input = self.input.take().ok_or_else(|| format!("`{}` has no handler", self.name))?;
        let kind = EntryKind::Tool(ToolEntry::new(input, self.output));
        let mut entry = entry(self.name.clone(), kind, self.handler.take())?;
        entry.judge().map_err(|it| format!("`{}`: {}", self.name, it.join("; ")))?;
        Ok(self.finish(entry))
    }
}

/// TOOLS-02.
pub(crate) fn check_tool_name(name: &str) -> Result<(), String> {
    let fits = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
    if (1..=128).contains(&name.len()) && name.bytes().all(fits) {
        Ok(())
    } else {
        Err(format!("`{name}` is no name for a tool: 1 to 128 letters, digits, `_`, `-` and `.`"))
    }
}

/// A resource made by value, for [`Handle::add`](super::Handle::add): at a fixed URI, or a template (RFC 6570) whose variables the handler
/// gets as texts.
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
    mime_type: Option<Text>,
    handler: Option<DynHandler>,
}
common!(Resource);

/// The variables of a template, by name.
pub type Variables = std::collections::BTreeMap<String, String>;

impl Resource {
    /// A resource at this URI, or of this template, called `name`. It needs a [`handler`](Self::handler) before it can be added.
    pub fn new(uri: impl Into<Text>, name: impl Into<Text>) -> Self {
        Self {
            uri: uri.into(),
            name: name.into(),
            title: None,
            description: None,
            order: 0,
            timeout: None,
            mime_type: None,
            handler: None,
        }
    }

    /// Its media type.
    #[must_use]
    pub fn mime_type(mut self, mime_type: impl Into<Text>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }

    /// What it holds. Gets the variables of the template, none for a fixed URI.
    #[must_use]
    pub fn handler<F, R>(mut self, handler: F) -> Self
    where
        F: Fn(Variables, Context) -> R + Send + Sync + 'static,
        R: Future<Output: ResourceReply> + Send + 'static,
    {
        self.handler = Some(Arc::new(move |call| {
            let work = handler(text_arguments(&call), call.context.clone());
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
        Arguments::Json(_) => Variables::new(),
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
        Ok(self.finish(entry))
    }
}

/// A prompt made by value, for [`Handle::add`](super::Handle::add).
///
/// ```
/// use mcp_runtime::{Variables, prelude::*};
///
/// let explain = Prompt::new("explain")
///     .argument("topic", "What to explain", true)
///     .handler(async |given: Variables, _: Context| format!("Explain {}.", given["topic"]));
/// # let _ = explain;
/// ```
pub struct Prompt {
    name: Text,
    title: Option<Text>,
    description: Option<Text>,
    order: i32,
    timeout: Option<Duration>,
    arguments: Vec<PromptArgument>,
    handler: Option<PromptHandler>,
}
common!(Prompt);

impl Prompt {
    /// A prompt of this name. It needs a [`handler`](Self::handler) before it can be added.
    pub fn new(name: impl Into<Text>) -> Self {
        Self {
            name: name.into(),
            title: None,
            description: None,
            order: 0,
            timeout: None,
            arguments: Vec::new(),
            handler: None,
        }
    }

    /// An argument it takes. The handler finds it in its [`Variables`] if it was given; a required one always was.
    #[must_use]
    pub fn argument(
        mut self,
        name: impl Into<Text>,
        description: impl Into<Text>,
        required: bool,
    ) -> Self {
        self.arguments.push(PromptArgument {
            name: name.into(),
            title: None,
            description: Some(description.into()),
            required,
            completer: None,
            values: Vec::new,
        });
        self
    }

    /// What it says. Gets the arguments that were given, by name.
    #[must_use]
    pub fn handler<F, R>(mut self, handler: F) -> Self
    where
        F: Fn(Variables, Context) -> R + Send + Sync + 'static,
        R: Future<Output: PromptReply> + Send + 'static,
    {
        self.handler = Some(Box::new(move |given, call| {
            let work = handler(given, call.context.clone());
            call.future(move |_| async move { prompt_reply(work.await) })
        }));
        self
    }
}

impl Item for Prompt {
    fn into_entry(mut self) -> Result<EntryBox, String> {
        let arguments = std::mem::take(&mut self.arguments);
        let known: Vec<(Text, bool)> =
            arguments.iter().map(|it| (it.name.clone(), it.required)).collect();
        let own = known.iter().map(|it| it.0.clone()).collect();
        let handler = self.handler.take().map(|handler| -> DynHandler {
            Arc::new(move |mut call| {
                let mut given = Variables::new();
                for (name, required) in &known {
                    match call.text(name) {
                        Some(value) => drop(given.insert(name.to_string(), value.into_owned())),
                        None if *required => call.problem(format!("`{name}`: missing")),
                        None => {}
                    }
                }
                if call.accept() { handler(given, call) } else { call.refuse() }
            })
        });
        let kind = EntryKind::Prompt(PromptEntry { arguments });
        let mut entry = entry(self.name.clone(), kind, handler)?;
        entry.names = Names { own, spread: Vec::new() };
        Ok(self.finish(entry))
    }
}
