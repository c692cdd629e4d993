//! Items created at run time as values, without an attribute.

use std::{collections::BTreeMap, fmt, future::Future, sync::Arc, time::Duration};

use mcp_runtime_contract::collect::collect_by_insert;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::{
    argument_check::ArgumentCheck,
    entry::{
        DynHandler, Entry, EntryKind, EntryText, Handler, PromptArgument, PromptEntry,
        ResourceEntry, ToolEntry, rank, tool_hints,
    },
    live::{EntryBox, Item},
    schemas::{self, SchemaMaker},
};
#[cfg(feature = "auth")]
use crate::authorization::ItemGuard;
use crate::{
    call::context::Context,
    call::extract::{ArgumentNames, Arguments, Call, Running},
    call::reply::{
        OutputSchemaSource, PromptReply, ResourceReply, ToolReply, prompt_reply, resource_reply,
        tool_reply,
    },
    item::template::UriTemplate,
    limits::RateConfig,
    model::{Asks, Icon, TaskSupport, check_meta_key, check_tool_name},
    registry::Constant,
    schema::{self, SchemaProfile},
};

/// Variables of a URI template, or arguments of a prompt, by name.
///
/// The handler of a [`Resource`] or a [`Prompt`] takes this map as its first parameter. See these types for examples.
pub type Variables = BTreeMap<String, String>;

/// Methods that the builders of all kinds share.
macro_rules! common_methods {
    ($ty:ident) => {
        impl $ty {
            /// Sets the title, which clients show to users instead of the name. Default: no title.
            #[must_use]
            pub fn title(mut self, title: impl Into<EntryText>) -> Self {
                self.title = Some(title.into());
                self
            }

            /// Sets the description of the item, which models read. Default: no description.
            #[must_use]
            pub fn description(mut self, description: impl Into<EntryText>) -> Self {
                self.description = Some(description.into());
                self
            }

            /// Sets the position in lists. Items with lower numbers come first. Items with the same number are sorted by name. Default: 0.
            #[must_use]
            pub fn order(mut self, order: i32) -> Self {
                self.order = order;
                self
            }

            /// Adds an icon (2025-11-25 and later). Can be called several times. Default: no icon.
            #[must_use]
            pub fn icon(mut self, icon: Icon) -> Self {
                self.icons.push(icon);
                self
            }

            /// Adds a member of the item's `_meta` in lists (2025-06-18 and later). The value is any JSON. A second value of a key replaces
            /// the first. If a key does not follow the syntax of the specification (basic/index#meta), [`Handle::add`](crate::Handle::add)
            /// fails. Default: no `_meta`.
            #[must_use]
            pub fn meta(mut self, key: impl Into<EntryText>, value: impl Into<Value>) -> Self {
                let key = key.into();
                self.meta.retain(|(known, _)| *known != key);
                self.meta.push((key, value.into().to_string().into()));
                self
            }

            /// Sets the maximum duration of a call. Default: the timeout of the server ([`Builder::timeout`](crate::Builder::timeout)).
            #[must_use]
            pub fn timeout(mut self, timeout: Duration) -> Self {
                self.timeout = Some(timeout);
                self
            }

            /// Sets the maximum rate of calls by one caller. Default: the rate of the server ([`Builder::rate`](crate::Builder::rate)).
            #[must_use]
            pub fn rate(mut self, rate: $crate::limits::Rate) -> Self {
                self.rates.rate = Some(rate);
                self
            }

            /// Sets the maximum number of calls that run at once, for all callers together. Default: the concurrency of the server
            /// ([`Builder::concurrency`](crate::Builder::concurrency)).
            #[must_use]
            pub fn concurrency(mut self, calls: u32) -> Self {
                self.rates.concurrency = Some(calls);
                self
            }

            /// Adds scopes that the caller's access token must grant. A call whose token lacks one of them gets a 403 response with
            /// `insufficient_scope`.
            #[cfg(feature = "auth")]
            #[must_use]
            pub fn scopes<S: Into<EntryText>>(
                mut self,
                scopes: impl IntoIterator<Item = S>,
            ) -> Self {
                self.guard.scopes.extend(scopes.into_iter().map(Into::into));
                self
            }

            /// Sets a policy that decides which callers may use the item. A [`Policy`](crate::auth::Policy) is a closure that takes the
            /// caller and the requested access. Default: no policy.
            #[cfg(feature = "auth")]
            #[must_use]
            pub fn auth(mut self, policy: impl $crate::auth::Policy) -> Self {
                self.guard = self.guard.deciding(policy);
                self
            }

            fn finish(self, mut entry: Entry) -> Result<EntryBox, String> {
                if let Some(problem) = self.rates.problem() {
                    return Err(format!("`{}`: {problem}", self.name));
                }
                for (key, _) in &self.meta {
                    check_meta_key(key).map_err(|reason| {
                        format!("`{}`: `{key}` cannot be a `_meta` key: {reason}", self.name)
                    })?;
                }
                #[cfg(feature = "auth")]
                {
                    if let Some(problem) = self.guard.problem() {
                        return Err(format!("`{}`: {problem}", self.name));
                    }
                    entry.guard = self.guard.closed();
                }
                entry.rates = self.rates;
                entry.title = self.title;
                entry.description = self.description;
                entry.icons = self.icons.into();
                entry.meta = self.meta;
                entry.order = rank(self.order);
                entry.timeout = self.timeout;
                Ok(EntryBox(entry))
            }
        }

        #[cfg(not(feature = "auth"))]
        $crate::unavailable::unavailable! {
            impl $ty where $crate::unavailable::AuthFeature {
                fn scopes<S>(self, _: S) -> Self;
                fn auth<P>(self, _: P) -> Self where {
                    P: Fn(&$crate::unavailable::OfPolicy, &$crate::unavailable::OfPolicy) -> bool,
                };
            }
        }

        impl fmt::Debug for $ty {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($ty), "({})"), self.name)
            }
        }
    };
}

/// Tool created at run time, without an attribute.
///
/// Add it to a running server with [`Handle::add`](crate::Handle::add). For a tool that is known at compile time, use the attribute
/// [`#[tool]`](macro@crate::prelude::tool) instead.
///
/// Specification: Server features, Tools.
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
/// let add = Tool::new("add")
///     .description("Adds")
///     .read_only(true)
///     .handler_with(async |sum: Sum, _: Context| sum.a + sum.b);
/// ```
pub struct Tool {
    name: EntryText,
    title: Option<EntryText>,
    description: Option<EntryText>,
    icons: Vec<Icon>,
    meta: Vec<(EntryText, EntryText)>,
    order: i32,
    timeout: Option<Duration>,
    rates: RateConfig,
    #[cfg(feature = "auth")]
    guard: ItemGuard,
    read_only: Option<bool>,
    destructive: Option<bool>,
    idempotent: Option<bool>,
    open_world: Option<bool>,
    input: Option<SchemaMaker>,
    output: Option<OutputSchemaSource>,
    /// Schemas that the author has set, or the reasons why they are not usable.
    given_input: Option<Result<Value, String>>,
    given_output: Option<Result<Value, String>>,
    handler: Option<DynHandler>,
    takes_arguments: bool,
    task: Option<TaskSupport>,
    profile: Option<SchemaProfile>,
}
common_methods!(Tool);

impl Tool {
    /// Creates a tool with this name, which consists of 1 to 128 ASCII letters, digits, `_`, `-` and `.`.
    ///
    /// Set a [`handler`](Self::handler) or a [`handler_with`](Self::handler_with) before you add the tool. If you set several handlers, the
    /// last one counts.
    pub fn new(name: impl Into<EntryText>) -> Self {
        Self {
            name: name.into(),
            title: None,
            description: None,
            icons: Vec::new(),
            meta: Vec::new(),
            order: 0,
            timeout: None,
            rates: RateConfig::default(),
            #[cfg(feature = "auth")]
            guard: ItemGuard::default(),
            read_only: None,
            destructive: None,
            idempotent: None,
            open_world: None,
            input: None,
            output: None,
            given_input: None,
            given_output: None,
            handler: None,
            takes_arguments: false,
            task: None,
            profile: None,
        }
    }

    /// Sets the hint whether the tool only reads and changes nothing (`readOnlyHint`). Default: not sent, and clients assume `false`.
    #[must_use]
    pub fn read_only(mut self, hint: bool) -> Self {
        self.read_only = Some(hint);
        self
    }

    /// Sets the hint whether the tool may delete or overwrite something (`destructiveHint`). Default: not sent, and clients assume `true`.
    /// A tool that is [`read_only`](Self::read_only) cannot be destructive.
    #[must_use]
    pub fn destructive(mut self, hint: bool) -> Self {
        self.destructive = Some(hint);
        self
    }

    /// Sets the hint whether a repeated call has no further effect (`idempotentHint`). Default: not sent, and clients assume `false`.
    #[must_use]
    pub fn idempotent(mut self, hint: bool) -> Self {
        self.idempotent = Some(hint);
        self
    }

    /// Sets the hint whether the tool reaches things outside of the server (`openWorldHint`). Default: not sent, and clients assume `true`.
    #[must_use]
    pub fn open_world(mut self, hint: bool) -> Self {
        self.open_world = Some(hint);
        self
    }

    /// Allows calls to continue as tasks. Default: calls never become tasks.
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

    /// Sets the schema of the arguments, for a schema that is known only at run time, such as the schema of an operation in an OpenAPI
    /// document. The schema is JSON text, or a value that serializes to the schema, such as a [`serde_json::Value`]. Default: the schema of
    /// the type that [`handler_with`](Self::handler_with) takes.
    ///
    /// The handler takes a `serde_json::Map<String, Value>`, or any other type that the arguments fit. Clients get the schema in the form of
    /// the [profile](Self::schema_profile).
    ///
    /// Before the handler runs, the server checks that the required arguments are present, that each argument has a `type` of its schema,
    /// and that there are no others if `additionalProperties` is `false`. A string that contains JSON of the right type is accepted instead,
    /// because many models quote arguments, and so is `null` for an argument that is not required. The handler checks everything else, such
    /// as bounds, patterns, `enum`, references and the members of objects.
    ///
    /// [`Handle::add`](crate::Handle::add) fails if the root of the schema does not have `"type": "object"`, if the schema refers to a
    /// definition that it does not contain, or if the handler takes no arguments.
    ///
    /// ```
    /// use mcp_runtime::prelude::*;
    /// use serde_json::{Map, Value, json};
    ///
    /// /// Returns the tool for an operation of a web service.
    /// fn operation(name: String, description: String, parameters: Value) -> Tool {
    ///     let path = format!("/{name}");
    ///     Tool::new(name).description(description).input_schema(parameters).handler_with(
    ///         move |arguments: Map<String, Value>, _: Context| {
    ///             let request = format!("POST {path} {}", Value::from(arguments));
    ///             async { request }
    ///         },
    ///     )
    /// }
    ///
    /// let parameters = json!({
    ///     "type": "object",
    ///     "properties": { "city": { "type": "string" }, "days": { "type": "integer" } },
    ///     "required": ["city"],
    /// });
    /// let tool = operation("forecast".into(), "Forecasts the weather".into(), parameters);
    /// ```
    #[must_use]
    pub fn input_schema(mut self, schema: impl Serialize) -> Self {
        self.given_input = Some(schema::given_input(schema));
        self
    }

    /// Sets the schema of the structured content, for a schema that is known only at run time. The schema is JSON text, or a value that
    /// serializes to the schema. Default: the schema of the type in the [`Json`](crate::Json) that the handler returns.
    ///
    /// Clients get the schema in the form of the [profile](Self::schema_profile). Before protocol revision 2026-07-28, they get it only if
    /// its root is an object schema. The server does not compare the results with the schema, but many clients do, and treat a result that
    /// does not fit as an error.
    ///
    /// [`Handle::add`](crate::Handle::add) fails if the schema is not a JSON object, if it refers to a definition that it does not contain,
    /// or if the handler returns no `Json`.
    ///
    /// ```
    /// use mcp_runtime::prelude::*;
    /// use serde_json::{Value, json};
    ///
    /// let schema = json!({ "type": "object", "properties": { "high": { "type": "integer" } } });
    /// let tool = Tool::new("forecast")
    ///     .output_schema(schema)
    ///     .handler(async |_: Context| Json(json!({ "high": 21 })));
    /// ```
    #[must_use]
    pub fn output_schema(mut self, schema: impl Serialize) -> Self {
        self.given_output = Some(schema::given_output(schema));
        self
    }

    /// Sets a handler for a tool without arguments. For a tool with arguments, use [`handler_with`](Self::handler_with).
    ///
    /// ```
    /// use mcp_runtime::prelude::*;
    ///
    /// let ping = Tool::new("ping")
    ///     .description("Checks the connection")
    ///     .handler(async |_: Context| "pong");
    /// ```
    #[must_use]
    pub fn handler<F, R>(mut self, handler: F) -> Self
    where
        F: Fn(Context) -> R + Send + Sync + 'static,
        R: Future<Output: ToolReply> + Send + 'static,
    {
        self.output = <R::Output as ToolReply>::OUTPUT;
        self.takes_arguments = false;
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

    /// Sets a handler that takes the fields of `T` as arguments. The doc comments of the fields become the descriptions of the arguments.
    /// `#[data]` on `T` adds the derives that `T` needs. See [`Tool`] for an example.
    #[must_use]
    pub fn handler_with<T, F, R>(mut self, handler: F) -> Self
    where
        T: serde::de::DeserializeOwned + JsonSchema + Send + 'static,
        F: Fn(T, Context) -> R + Send + Sync + 'static,
        R: Future<Output: ToolReply> + Send + 'static,
    {
        self.output = <R::Output as ToolReply>::OUTPUT;
        self.takes_arguments = true;
        let make = schema::argument_schema::<T>;
        self.input = Some(Box::new(move |profile| schema::input_of(make, profile).map(Into::into)));
        self.handler = Some(Arc::new(move |mut call| {
            let arguments = crate::call::extract::spread_arguments::<T>(&mut call);
            let (true, Some(arguments)) = (call.accept(), arguments) else { return call.refuse() };
            let work = handler(arguments, call.context.get().clone());
            call.future(move |_| async move { tool_reply(work.await) })
        }));
        self
    }
}

const NO_STRUCTURED_CONTENT: &str =
    "`output_schema` needs structured content: return `Json(…)` from the handler";
const CONTRADICTION: &str = "`destructive` contradicts `read_only`, because a tool that only reads destroys nothing: remove one of the two";

impl Item for Tool {
    fn into_entry(mut self, server_profile: SchemaProfile) -> Result<EntryBox, String> {
        check_tool_name(&self.name)?;
        let make_input =
            self.input.take().ok_or_else(|| format!("`{}` has no handler", self.name))?;
        let wrong = |problem: String| format!("`{}`: {problem}", self.name);
        if self.read_only == Some(true) && self.destructive == Some(true) {
            return Err(wrong(CONTRADICTION.to_owned()));
        }
        let mut handler = self.handler.take();
        let given_input = self.given_input.take().transpose().map_err(wrong)?;
        if let Some(schema) = &given_input {
            let check = ArgumentCheck::of(schema, self.takes_arguments).map_err(wrong)?;
            handler = handler.map(|handler| check.before(handler));
        }
        let given_output = self.given_output.take().transpose().map_err(wrong)?;
        if given_output.is_some() && self.output.is_none() {
            return Err(wrong(NO_STRUCTURED_CONTENT.to_owned()));
        }
        let given = (given_input.is_some(), given_output.is_some());
        let profile = self.profile.unwrap_or(server_profile);
        let made =
            schemas::of_added_tool(make_input, given_input, self.output, given_output, profile);
        let mut tool = ToolEntry::new(made.map_err(|problems| wrong(problems.join("; ")))?);
        (tool.given, tool.given_output) = given;
        (tool.own_profile, tool.server_profile) = (self.profile, server_profile);
        tool.output = self.output;
        tool.hints = tool_hints(self.read_only, self.destructive, self.idempotent, self.open_world);
        tool.task = self.task;
        let kind = EntryKind::Tool(tool);
        let mut entry = dynamic_entry(self.name.clone(), kind, handler)?;
        entry.read_input_schema().map_err(|problems| wrong(problems.join("; ")))?;
        self.finish(entry)
    }
}

/// Resource created at run time, without an attribute. It has a fixed URI, or a URI template (RFC 6570).
///
/// Add it to a running server with [`Handle::add`](crate::Handle::add). For a resource that is known at compile time, use the attribute
/// [`#[resource]`](macro@crate::prelude::resource) instead. That attribute parses the variables of a template, whereas the handler of this
/// type gets them as strings.
///
/// Specification: Server features, Resources.
///
/// ```
/// use mcp_runtime::prelude::*;
///
/// let page = Resource::new("pages://{name}", "page")
///     .mime_type("text/markdown")
///     .handler(async |variables: Variables, _: Context| format!("# {}", variables["name"]));
/// ```
pub struct Resource {
    uri: EntryText,
    name: EntryText,
    title: Option<EntryText>,
    description: Option<EntryText>,
    icons: Vec<Icon>,
    meta: Vec<(EntryText, EntryText)>,
    order: i32,
    timeout: Option<Duration>,
    rates: RateConfig,
    #[cfg(feature = "auth")]
    guard: ItemGuard,
    mime_type: Option<EntryText>,
    /// Media type that the result of the handler has, if its type decides it.
    usual_mime_type: Option<&'static str>,
    handler: Option<DynHandler>,
}
common_methods!(Resource);

impl Resource {
    /// Creates a resource with this name, for a URI or for a URI template. Set a [`handler`](Self::handler) before you add the resource.
    pub fn new(uri: impl Into<EntryText>, name: impl Into<EntryText>) -> Self {
        Self {
            uri: uri.into(),
            name: name.into(),
            title: None,
            description: None,
            icons: Vec::new(),
            meta: Vec::new(),
            order: 0,
            timeout: None,
            rates: RateConfig::default(),
            #[cfg(feature = "auth")]
            guard: ItemGuard::default(),
            mime_type: None,
            usual_mime_type: None,
            handler: None,
        }
    }

    /// Sets the media type, such as `text/markdown`. The default is the media type that the type of the handler's result decides, such as
    /// `application/json` for [`Json`](crate::Json).
    #[must_use]
    pub fn mime_type(mut self, mime_type: impl Into<EntryText>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }

    /// Sets the handler, which returns the contents of the resource. The handler gets the variables of the template. For a fixed URI there
    /// are no variables.
    #[must_use]
    pub fn handler<F, R>(mut self, handler: F) -> Self
    where
        F: Fn(Variables, Context) -> R + Send + Sync + 'static,
        R: Future<Output: ResourceReply> + Send + 'static,
    {
        self.usual_mime_type = R::Output::MEDIA_TYPE;
        self.handler = Some(Arc::new(move |call| {
            let work = handler(text_arguments(&call), call.context.get().clone());
            call.future(move |context| async move { resource_reply(&context, work.await) })
        }));
        self
    }
}

fn text_arguments(call: &Call<'_>) -> Variables {
    match &call.arguments {
        Arguments::Text(members) => collect_by_insert(
            members.iter().map(|member| (member.name.to_string(), member.value.to_string())),
        ),
        Arguments::Noted { .. } | Arguments::Json(_) => Variables::new(),
    }
}

impl Item for Resource {
    fn into_entry(mut self, _: SchemaProfile) -> Result<EntryBox, String> {
        let template =
            if self.uri.contains('{') { Some(UriTemplate::parse(&self.uri)?) } else { None };
        let kind = EntryKind::Resource(ResourceEntry {
            uri: self.uri.clone(),
            template,
            mime_type: self.mime_type.take().or(self.usual_mime_type.map(Into::into)),
            size: None,
            subscribe: true,
            cache: None,
            arguments: Vec::new(),
        });
        let entry = dynamic_entry(self.name.clone(), kind, self.handler.take())?;
        self.finish(entry)
    }
}

type PromptHandler = Box<dyn Fn(Variables, Call<'_>) -> Running + Send + Sync>;

/// Prompt created at run time, without an attribute.
///
/// Add it to a running server with [`Handle::add`](crate::Handle::add). For a prompt that is known at compile time, use the attribute
/// [`#[prompt]`](macro@crate::prelude::prompt) instead.
///
/// Specification: Server features, Prompts.
///
/// ```
/// use mcp_runtime::prelude::*;
///
/// let explain = Prompt::new("explain")
///     .argument("topic", "What to explain", true)
///     .handler(async |given: Variables, _: Context| format!("Explain {}.", given["topic"]));
/// ```
pub struct Prompt {
    name: EntryText,
    title: Option<EntryText>,
    description: Option<EntryText>,
    icons: Vec<Icon>,
    meta: Vec<(EntryText, EntryText)>,
    order: i32,
    timeout: Option<Duration>,
    rates: RateConfig,
    #[cfg(feature = "auth")]
    guard: ItemGuard,
    arguments: Vec<PromptArgument>,
    handler: Option<PromptHandler>,
}
common_methods!(Prompt);

impl Prompt {
    /// Creates a prompt with this name. Set a [`handler`](Self::handler) before you add the prompt.
    pub fn new(name: impl Into<EntryText>) -> Self {
        Self {
            name: name.into(),
            title: None,
            description: None,
            icons: Vec::new(),
            meta: Vec::new(),
            order: 0,
            timeout: None,
            rates: RateConfig::default(),
            #[cfg(feature = "auth")]
            guard: ItemGuard::default(),
            arguments: Vec::new(),
            handler: None,
        }
    }

    /// Adds an argument with this name and description. If the client sends the argument, the handler finds the value in its [`Variables`].
    /// A required argument is always present, because the server rejects calls without it.
    #[must_use]
    pub fn argument(
        mut self,
        name: impl Into<EntryText>,
        description: impl Into<EntryText>,
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

    /// Sets the handler, which returns the messages of the prompt. The handler gets the arguments that the client has sent, by name.
    #[must_use]
    pub fn handler<F, R>(mut self, handler: F) -> Self
    where
        F: Fn(Variables, Context) -> R + Send + Sync + 'static,
        R: Future<Output: PromptReply> + Send + 'static,
    {
        self.handler = Some(Box::new(move |given, call| {
            let work = handler(given, call.context.get().clone());
            call.future(move |_| async move { prompt_reply(work.await) })
        }));
        self
    }
}

impl Item for Prompt {
    fn into_entry(mut self, _: SchemaProfile) -> Result<EntryBox, String> {
        let arguments = std::mem::take(&mut self.arguments);
        let known: Vec<(EntryText, bool)> =
            arguments.iter().map(|argument| (argument.name.clone(), argument.required)).collect();
        let own = known.iter().map(|(name, _)| name.clone()).collect();
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
        let mut entry = dynamic_entry(self.name.clone(), kind, handler)?;
        entry.names = ArgumentNames { own, spread: Vec::new() };
        self.finish(entry)
    }
}

fn dynamic_entry(
    name: EntryText,
    kind: EntryKind,
    handler: Option<DynHandler>,
) -> Result<Entry, String> {
    Ok(Entry {
        handler: Handler::Dynamic(handler.ok_or_else(|| format!("`{name}` has no handler"))?),
        name,
        title: None,
        description: None,
        icons: (&[]).into(),
        order: 0,
        timeout: None,
        rates: RateConfig::default(),
        gate: None,
        #[cfg(feature = "auth")]
        guard: None,
        audience: &[],
        priority: None,
        meta: Vec::new(),
        origin: None,
        parameters: Vec::new(),
        identity: None,
        names: ArgumentNames::default(),
        needs_meta: true,
        asks: Asks::new(),
        can_ask: true,
        single_use: false,
        held_thread: None,
        kind,
    })
}
