//! Items of the catalog, with the data that a call needs.

use std::{
    any::TypeId,
    borrow::Cow,
    sync::{Arc, OnceLock},
    time::Duration,
};

use mcp_runtime_wire::Raw;
use serde_json::Value;

use super::schemas::{self, ToolOutputSchema, ToolSchema};
#[cfg(feature = "auth")]
use crate::authorization::ItemGuard;
use crate::{
    call::extract::{ArgumentField, ArgumentNames, ArgumentSource, Call, ItemParams, Running},
    call::reply::OutputSchemaSource,
    item::{
        ArgDef, Completer, SourceLocation,
        template::{Segment, UriTemplate},
    },
    limits::{ItemGate, RateConfig, SharedLimits},
    model::{Asks, CachePolicy, Icon, Role, TaskSupport},
    registry::{CallFn, Constant, GivenOutput, ItemDef, KindDef},
    schema::{
        SchemaProfile,
        header::{self, HeaderArgument},
    },
};

/// Text of an item. The text from an attribute is `'static`. The text of an item added at run time may be owned.
pub(super) type EntryText = Cow<'static, str>;

/// Converts an `order` to a position in lists. Consecutive orders are 2³¹ positions apart, so that the builder can give items distinct
/// positions in between, in the order of `items![…]` or of the source.
pub(super) fn rank(order: i32) -> i64 {
    i64::from(order) << 31
}

/// An item of the catalog, annotated or added while the server runs.
pub(crate) struct Entry {
    pub(crate) name: EntryText,
    pub(crate) title: Option<EntryText>,
    pub(crate) description: Option<EntryText>,
    pub(crate) icons: Cow<'static, [Icon]>,
    pub(crate) order: i64,
    pub(crate) timeout: Option<Duration>,
    /// Rate and concurrency that are set on the item.
    pub(crate) rates: RateConfig,
    /// Gate that enforces rate and concurrency. It is set once the defaults of the server are known.
    pub(crate) gate: Option<Arc<ItemGate>>,
    /// Conditions that callers must meet. `None` if every caller may use the item.
    #[cfg(feature = "auth")]
    pub(crate) guard: Option<Box<ItemGuard>>,
    pub(crate) audience: &'static [Role],
    pub(crate) priority: Option<f64>,
    /// Members of `_meta`: the keys, and the values as JSON text.
    pub(crate) meta: Vec<(EntryText, EntryText)>,
    pub(crate) origin: Option<&'static SourceLocation>,
    /// Parameters that are arguments or contain arguments, with their source locations.
    #[cfg_attr(not(feature = "contract"), allow(dead_code, reason = "for the comparison"))]
    pub(crate) parameters: Vec<&'static ArgDef>,
    /// Identity of the annotated function.
    pub(crate) identity: Option<TypeId>,
    pub(crate) handler: Handler,
    pub(crate) names: ArgumentNames,
    /// Whether the request's `_meta` is kept for the handler.
    pub(crate) needs_meta: bool,
    /// Capabilities that the client must have, according to the attribute and the parameters.
    pub(crate) asks: Asks,
    /// Whether the handler may send elicitation, sampling or roots requests, because it takes the context or `asks` is not empty.
    pub(crate) can_ask: bool,
    /// Whether a client may send each `requestState` back only once.
    pub(crate) single_use: bool,
    pub(crate) kind: EntryKind,
}

#[derive(Clone)]
pub(crate) enum Handler {
    Static(CallFn),
    Dynamic(DynHandler),
}

pub(crate) type DynHandler = Arc<dyn for<'a> Fn(Call<'a>) -> Running + Send + Sync>;

impl Handler {
    pub(crate) fn run(&self, call: Call<'_>) -> Running {
        match self {
            Self::Static(run) => run(call),
            Self::Dynamic(run) => run(call),
        }
    }
}

pub(crate) enum EntryKind {
    Tool(ToolEntry),
    Resource(ResourceEntry),
    Prompt(PromptEntry),
    Completion { takes_typed_text: bool },
}

/// Hints of a tool: the name of each in `annotations`, and its value if the author has set one.
pub(super) type ToolHints = [(&'static str, Option<bool>); 4];

/// Returns the hints with these values.
pub(super) fn tool_hints(
    read_only: Option<bool>,
    destructive: Option<bool>,
    idempotent: Option<bool>,
    open_world: Option<bool>,
) -> ToolHints {
    [
        ("readOnlyHint", read_only),
        ("destructiveHint", destructive),
        ("idempotentHint", idempotent),
        ("openWorldHint", open_world),
    ]
}

pub(crate) struct ToolEntry {
    pub(crate) hints: ToolHints,
    pub(crate) lenient: bool,
    pub(crate) strict: bool,
    /// Whether the author wrote the input schema.
    #[cfg_attr(not(feature = "stdio"), allow(dead_code, reason = "for the command line"))]
    pub(crate) given: bool,
    /// Schema profile that is set on the tool.
    pub(crate) own_profile: Option<SchemaProfile>,
    /// Schema profile of the server, for a tool without a profile.
    pub(crate) server_profile: SchemaProfile,
    /// Whether calls may continue as tasks.
    pub(crate) task: Option<TaskSupport>,
    /// Function that generates the input schema.
    pub(crate) input: SchemaMaker,
    pub(crate) output: Option<OutputSchemaSource>,
    /// Function that returns the author's own output schema.
    pub(crate) given_output: Option<GivenOutput>,
    /// Output schema of a tool that was added at run time.
    pub(super) written_output: Option<Value>,
    #[cfg_attr(not(feature = "stdio"), allow(dead_code, reason = "for the command line"))]
    pub(crate) constant: Constant,
    made_input: OnceLock<ToolSchema>,
    made_output: OnceLock<Option<ToolOutputSchema>>,
    headers: OnceLock<Vec<HeaderArgument>>,
}

/// Function that generates a schema as JSON text, or returns the problems of the schema.
pub(crate) type SchemaMaker =
    Box<dyn Fn(SchemaProfile) -> Result<ToolSchema, Vec<String>> + Send + Sync>;

/// The schemas of a tool as JSON text.
pub(crate) struct ToolSchemas<'a> {
    pub(crate) input: &'a ToolSchema,
    pub(crate) output: Option<&'a ToolOutputSchema>,
}

pub(crate) struct ResourceEntry {
    pub(crate) uri: EntryText,
    /// `None` for a fixed URI.
    pub(crate) template: Option<UriTemplate>,
    pub(crate) mime_type: Option<EntryText>,
    pub(crate) size: Option<u64>,
    pub(crate) subscribe: bool,
    pub(crate) cache: Option<CachePolicy>,
    pub(crate) arguments: Vec<PromptArgument>,
}

pub(crate) struct PromptEntry {
    pub(crate) arguments: Vec<PromptArgument>,
}

/// An argument of a prompt, or a variable of a template.
pub(crate) struct PromptArgument {
    pub(crate) name: EntryText,
    pub(crate) title: Option<EntryText>,
    pub(crate) description: Option<EntryText>,
    pub(crate) required: bool,
    pub(crate) completer: Option<Completer>,
    /// Function that returns the values which the type allows. The vector is empty if the type allows any text.
    pub(crate) values: fn() -> Vec<&'static str>,
}

impl PromptArgument {
    fn of(field: &ArgumentField) -> Self {
        let (required, values): (bool, fn() -> Vec<&'static str>) = match field.source {
            ArgumentSource::Text { required, values, .. } => {
                (required && !field.has_default, values)
            }
            ArgumentSource::Json { .. } | ArgumentSource::Spread { .. } => (true, Vec::new),
        };
        Self {
            name: field.def.name.into(),
            title: field.def.title.map(Into::into),
            description: field.def.description.map(Into::into),
            required,
            completer: field.def.completer,
            values,
        }
    }

    pub(crate) fn can_complete(&self) -> bool {
        self.completer.is_some() || !(self.values)().is_empty()
    }
}

impl ToolEntry {
    /// Returns the schemas. They are rendered once, at first use.
    pub(crate) fn schemas(&self) -> ToolSchemas<'_> {
        let output = || match (self.given_output, &self.written_output) {
            // `build()` has rejected a schema that is not usable.
            (Some(given), _) => given().ok().map(ToolOutputSchema::from),
            (None, Some(schema)) => Some(schemas::written_output(schema.clone(), self.profile())),
            (None, None) => {
                self.output.map(|output| schemas::output(output, &self.constant, self.profile()))
            }
        };
        ToolSchemas {
            input: self.made_input.get_or_init(|| {
                // `build()` and `Handle::add` have rejected schemas with problems, so the fallback should never be used.
                self.input().unwrap_or_else(|_| ToolSchema {
                    text: r#"{"type":"object","properties":{}}"#.into(),
                    is_static: false,
                })
            }),
            output: self.made_output.get_or_init(output).as_ref(),
        }
    }

    /// Returns the profile of the schemas: the profile of the tool if it sets one, otherwise that of the server.
    pub(crate) fn profile(&self) -> SchemaProfile {
        self.own_profile.unwrap_or(self.server_profile)
    }

    fn input(&self) -> Result<ToolSchema, Vec<String>> {
        (self.input)(self.profile())
    }

    pub(crate) fn new(
        input: SchemaMaker,
        output: Option<OutputSchemaSource>,
        profile: Option<SchemaProfile>,
    ) -> Self {
        Self {
            hints: tool_hints(None, None, None, None),
            lenient: false,
            strict: false,
            given: false,
            own_profile: profile,
            server_profile: SchemaProfile::default(),
            task: None,
            input,
            output,
            given_output: None,
            written_output: None,
            constant: Constant::NONE,
            made_input: OnceLock::new(),
            made_output: OnceLock::new(),
            headers: OnceLock::new(),
        }
    }
}

impl Entry {
    /// Creates the entry of an annotated function. `params` are its parameters.
    ///
    /// # Errors
    /// Fails if the server does not support the URI template, or if an expression in `meta` has a value that JSON does not have.
    pub(crate) fn of(def: &'static ItemDef, params: ItemParams) -> Result<Self, String> {
        let names = params
            .fields
            .iter()
            .filter(|field| !matches!(field.source, ArgumentSource::Spread { .. }))
            .map(|field| field.def.name.into());
        let names = ArgumentNames { own: names.collect(), spread: Vec::new() };
        let parameters = params.fields.iter().map(|field| field.def).collect();
        let needs_meta = params.needs.meta;
        let mut meta = Vec::with_capacity(def.meta.len());
        for (key, value) in def.meta {
            let json = value.json();
            let json = json.map_err(|why| format!("`{key}` of its `meta` is no JSON: {why}"))?;
            meta.push(((*key).into(), json));
        }
        let asks = def.asks.and(params.needs.asks);
        let kind = match &def.kind {
            KindDef::Tool(tool) => {
                let lenient = tool.lenient;
                let given = tool.input_schema;
                let (fields, constant) = (params.fields, tool.constant);
                let input = move |profile| match given {
                    Some(text) => text().map(ToolSchema::from).map_err(|problem| vec![problem]),
                    None => schemas::input(&fields, &constant, lenient, profile),
                };
                EntryKind::Tool(ToolEntry {
                    hints: tool_hints(
                        tool.read_only,
                        tool.destructive,
                        tool.idempotent,
                        tool.open_world,
                    ),
                    lenient,
                    strict: tool.strict,
                    given: given.is_some(),
                    given_output: tool.output_schema,
                    task: tool.task,
                    constant,
                    ..ToolEntry::new(Box::new(input), (tool.output)(), tool.profile)
                })
            }
            KindDef::Resource(resource) => EntryKind::Resource(ResourceEntry {
                uri: resource.uri.into(),
                template: template(resource.segments)?,
                mime_type: resource.mime_type.or_else(resource.usual_mime_type).map(Into::into),
                size: resource.size,
                subscribe: resource.subscribe.unwrap_or(false),
                cache: resource.cache,
                arguments: params.fields.iter().map(PromptArgument::of).collect(),
            }),
            KindDef::Prompt => EntryKind::Prompt(PromptEntry {
                arguments: params.fields.iter().map(PromptArgument::of).collect(),
            }),
            KindDef::Completion => {
                EntryKind::Completion { takes_typed_text: params.takes_typed_text }
            }
        };
        Ok(Self {
            name: def.name.into(),
            title: def.title.map(Into::into),
            description: def.description.map(Into::into),
            icons: def.icons.into(),
            order: rank(def.order),
            timeout: def.timeout,
            rates: RateConfig { rate: def.rate, concurrency: def.concurrency },
            gate: None,
            #[cfg(feature = "auth")]
            guard: ItemGuard::of(def).closed(),
            audience: def.audience,
            priority: def.priority,
            meta,
            origin: Some(&def.origin),
            parameters,
            identity: Some((def.identity)()),
            handler: Handler::Static(def.call),
            names,
            needs_meta,
            asks,
            can_ask: params.needs.context || !asks.is_empty(),
            single_use: def.single_use,
            kind,
        })
    }

    /// Generates the input schema of a tool now instead of at first use, and takes the names of spread arguments and the headers from it.
    ///
    /// # Errors
    /// Returns the problems of the parameters or of the schema.
    pub(crate) fn make_input_schema(&mut self) -> Result<(), Vec<String>> {
        let EntryKind::Tool(tool) = &self.kind else { return Ok(()) };
        let made = tool.input()?;
        let schema = Raw::trusted(&made.text);
        let (headers, problems) = header::arguments(schema);
        if !problems.is_empty() {
            return Err(problems);
        }
        let _ = tool.headers.set(headers);
        let properties = schema.get("properties").unwrap_or(Raw::EMPTY_OBJECT);
        let names = properties.members().map(|(name, _)| name);
        let own = &self.names.own;
        self.names.spread = names.filter(|name| !own.contains(name)).map(Cow::into_owned).collect();
        let _ = tool.made_input.set(made);
        Ok(())
    }

    /// Reads the output schema that the author has written, if there is one.
    ///
    /// # Errors
    /// Fails if the schema is not usable, or if the tool has no structured result.
    pub(crate) fn check_given_output(&self) -> Result<(), String> {
        let EntryKind::Tool(tool) = &self.kind else { return Ok(()) };
        let Some(given) = tool.given_output else { return Ok(()) };
        if tool.output.is_none() {
            let problem = "`output_schema` describes a structured result, and the function returns none: return `Json<…>`, or remove the key";
            return Err(problem.to_owned());
        }
        given().map(drop)
    }

    /// Returns the arguments that clients repeat in a header.
    #[cfg_attr(not(feature = "http"), allow(dead_code, reason = "only HTTP has headers"))]
    pub(crate) fn headers(&self) -> &[HeaderArgument] {
        let EntryKind::Tool(tool) = &self.kind else { return &[] };
        tool.headers.get_or_init(|| {
            // `build()` has already rejected the problems of all schemas that it checked. It does not check a schema in which only a struct
            // inside an argument can declare headers, so the problems of such a schema are logged here.
            let (headers, problems) = header::arguments(Raw::trusted(&tool.schemas().input.text));
            for problem in problems {
                tracing::error!("{}: {problem}: clients will not show this tool", self.place());
            }
            headers
        })
    }

    /// Sets the schema profile of the server, which applies to tools without a profile. Call this method before the schemas are published.
    pub(crate) fn default_profile(&mut self, profile: SchemaProfile) {
        if let EntryKind::Tool(tool) = &mut self.kind {
            let before = tool.profile();
            tool.server_profile = profile;
            if tool.profile() != before {
                (tool.made_input, tool.made_output) = Default::default();
            }
        }
    }

    /// Sets the gate from the item's rate and concurrency, or else from the defaults of the server. Completions have no gate, because
    /// clients request them while the user types.
    pub(crate) fn default_rates(&mut self, server: RateConfig) {
        if !matches!(self.kind, EntryKind::Completion { .. }) {
            self.gate = self.rates.or(server).gate();
        }
    }

    /// Lets several servers that share a store count the calls of the item together. Call this method after
    /// [`default_rates`](Self::default_rates).
    pub(crate) fn share_gate(&self, limits: &Arc<SharedLimits>) {
        if let Some(gate) = &self.gate {
            gate.share(limits.clone(), &format!("{}:{}", self.kind_name(), self.key()));
        }
    }

    /// Restricts access to the item if the server has policies. Completions need no guard, because the item that they complete has one.
    #[cfg(feature = "auth")]
    pub(crate) fn default_guard(&mut self, guards_all: bool) {
        if guards_all && !matches!(self.kind, EntryKind::Completion { .. }) {
            self.guard.get_or_insert_default();
        }
    }

    /// Returns the source location of the item, for messages.
    pub(crate) fn place(&self) -> String {
        self.origin.map_or_else(|| "an item added while running".to_owned(), ToString::to_string)
    }

    pub(crate) fn kind_name(&self) -> &'static str {
        match self.kind {
            EntryKind::Tool(_) => "tool",
            EntryKind::Resource(_) => "resource",
            EntryKind::Prompt(_) => "prompt",
            EntryKind::Completion { .. } => "completion",
        }
    }

    /// Returns the key of the item, which is unique among the items of its kind. The key is the URI of a resource, or the name of any other
    /// item.
    pub(crate) fn key(&self) -> &str {
        match &self.kind {
            EntryKind::Resource(resource) => &resource.uri,
            _ => &self.name,
        }
    }

    pub(crate) fn tool(&self) -> Option<&ToolEntry> {
        match &self.kind {
            EntryKind::Tool(tool) => Some(tool),
            _ => None,
        }
    }

    /// Returns the task support of a tool. Returns `None` if its calls never become tasks, and for other items.
    pub(crate) fn task(&self) -> Option<TaskSupport> {
        self.tool()?.task
    }

    /// Returns whether the item is a tool that its author has declared idempotent.
    pub(crate) fn is_idempotent(&self) -> bool {
        self.tool().is_some_and(|tool| tool.hints.contains(&("idempotentHint", Some(true))))
    }

    pub(crate) fn resource(&self) -> Option<&ResourceEntry> {
        match &self.kind {
            EntryKind::Resource(resource) => Some(resource),
            _ => None,
        }
    }

    /// Returns the arguments that can have completions. Only resources and prompts have such arguments.
    pub(crate) fn arguments(&self) -> &[PromptArgument] {
        match &self.kind {
            EntryKind::Resource(resource) => &resource.arguments,
            EntryKind::Prompt(prompt) => &prompt.arguments,
            EntryKind::Tool(_) | EntryKind::Completion { .. } => &[],
        }
    }

    /// Returns whether access to the item is restricted.
    pub(crate) fn is_guarded(&self) -> bool {
        #[cfg(feature = "auth")]
        return self.guard.is_some();
        #[cfg(not(feature = "auth"))]
        return false;
    }

    /// Returns the scopes that the caller's token must grant.
    pub(crate) fn scopes(&self) -> impl Iterator<Item = &str> {
        #[cfg(feature = "auth")]
        return self.guard.iter().flat_map(|guard| &guard.scopes).map(|scope| &**scope);
        #[cfg(not(feature = "auth"))]
        return std::iter::empty();
    }
}

fn template(segments: &'static [Segment]) -> Result<Option<UriTemplate>, String> {
    if segments.is_empty() { Ok(None) } else { UriTemplate::new(segments).map(Some) }
}

#[cfg(test)]
mod tests;
