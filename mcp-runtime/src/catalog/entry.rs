//! Items of the catalog, with the data that a call needs.

use std::{any::TypeId, borrow::Cow, sync::Arc, time::Duration};

use mcp_runtime_wire::Raw;

use super::schemas::{self, ToolSchemas};
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
    registry::{CallFn, Constant, ItemDef, KindDef},
    schema::{
        SchemaProfile,
        header::{self, HeaderArgument},
    },
    unwind::catch_message,
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
    /// Call in the body that holds the thread of other calls.
    #[cfg_attr(not(feature = "stdio"), allow(dead_code, reason = "for the command line"))]
    pub(crate) held_thread: Option<&'static str>,
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
    /// Whether the author wrote the output schema.
    #[cfg_attr(not(feature = "stdio"), allow(dead_code, reason = "for the command line"))]
    pub(crate) given_output: bool,
    /// Schema profile that is set on the tool.
    pub(crate) own_profile: Option<SchemaProfile>,
    /// Schema profile of the server, for a tool without a profile.
    pub(crate) server_profile: SchemaProfile,
    /// Whether calls may continue as tasks.
    pub(crate) task: Option<TaskSupport>,
    pub(crate) schemas: ToolSchemas,
    #[cfg_attr(not(feature = "stdio"), allow(dead_code, reason = "for the command line"))]
    pub(crate) output: Option<OutputSchemaSource>,
    #[cfg_attr(not(feature = "stdio"), allow(dead_code, reason = "for the command line"))]
    pub(crate) constant: Constant,
    /// Arguments that clients repeat in a header.
    #[cfg_attr(not(feature = "http"), allow(dead_code, reason = "only HTTP has headers"))]
    pub(crate) headers: Vec<HeaderArgument>,
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
    /// Returns the profile of the schemas: the profile of the tool if it sets one, otherwise that of the server.
    #[cfg_attr(not(feature = "stdio"), allow(dead_code, reason = "for the command line"))]
    pub(crate) fn profile(&self) -> SchemaProfile {
        self.own_profile.unwrap_or(self.server_profile)
    }

    pub(super) fn new(schemas: ToolSchemas) -> Self {
        Self {
            hints: tool_hints(None, None, None, None),
            lenient: false,
            strict: false,
            given: false,
            given_output: false,
            own_profile: None,
            server_profile: SchemaProfile::default(),
            task: None,
            schemas,
            output: None,
            constant: Constant::NONE,
            headers: Vec::new(),
        }
    }
}

impl Entry {
    /// Creates the entry of an annotated function. `params` are its parameters, and `server_profile` is the schema profile of a tool that
    /// sets none.
    ///
    /// Adds the problems to a list: a URI template that the server does not support, a schema that cannot be made, an expression in `meta`
    /// that has a value which JSON does not have, and each panic of the author's code. An entry with such a problem must not be served.
    pub(crate) fn of(
        def: &'static ItemDef,
        params: ItemParams,
        server_profile: SchemaProfile,
        problems: &mut Vec<String>,
    ) -> Self {
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
            match catch_message(|| value.json()) {
                Ok(Ok(json)) => meta.push(((*key).into(), json)),
                Ok(Err(why)) => problems.push(format!("`{key}` of its `meta` is no JSON: {why}")),
                Err(panicked) => problems.push(format!("`{key}` of its `meta` {panicked}")),
            }
        }
        let asks = def.asks.and(params.needs.asks);
        let reads_schema = params.fields.iter().any(|field| {
            field.def.header.is_some() || matches!(field.source, ArgumentSource::Spread { .. })
        });
        let kind = match &def.kind {
            KindDef::Tool(tool) => {
                let profile = tool.profile.unwrap_or(server_profile);
                EntryKind::Tool(ToolEntry {
                    hints: tool_hints(
                        tool.read_only,
                        tool.destructive,
                        tool.idempotent,
                        tool.open_world,
                    ),
                    lenient: tool.lenient,
                    strict: tool.strict,
                    given: tool.input_schema.is_some(),
                    given_output: tool.output_schema.is_some(),
                    own_profile: tool.profile,
                    server_profile,
                    task: tool.task,
                    output: (tool.output)(),
                    constant: tool.constant,
                    ..ToolEntry::new(schemas::of_tool(tool, &params.fields, profile, problems))
                })
            }
            KindDef::Resource(resource) => EntryKind::Resource(ResourceEntry {
                uri: resource.uri.into(),
                template: template(resource.segments).unwrap_or_else(|problem| {
                    problems.push(problem);
                    None
                }),
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
        let mut entry = Self {
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
            held_thread: def.held_thread,
            kind,
        };
        // The compiler knows no type that declares headers, so its schemas have those of parameters only.
        if reads_schema || entry.tool().is_some_and(|tool| !tool.schemas.input.is_static) {
            problems.extend(entry.read_input_schema().err().into_iter().flatten());
        }
        entry
    }

    /// Takes the names of spread arguments and the headers from the input schema of a tool.
    ///
    /// # Errors
    /// Returns the problems of the headers.
    pub(super) fn read_input_schema(&mut self) -> Result<(), Vec<String>> {
        let EntryKind::Tool(tool) = &mut self.kind else { return Ok(()) };
        let schema = Raw::trusted(&tool.schemas.input.text);
        let problems;
        (tool.headers, problems) = header::arguments(schema);
        let properties = schema.get("properties").unwrap_or(Raw::EMPTY_OBJECT);
        let names = properties.members().map(|(name, _)| name);
        let own = &self.names.own;
        self.names.spread = names.filter(|name| !own.contains(name)).map(Cow::into_owned).collect();
        if problems.is_empty() { Ok(()) } else { Err(problems) }
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
