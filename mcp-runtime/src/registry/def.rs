//! Definition of an annotated function, as the attributes write it.

use std::{any::TypeId, fmt, time::Duration};

#[cfg(feature = "auth")]
use crate::call::context::{Access, Authorization};
use crate::{
    call::extract::{Call, ItemParams, Running},
    call::reply::OutputSchemaSource,
    item::{InputSchema, Segment, SourceLocation},
    model::{Asks, CachePolicy, Icon, Rate, Role, TaskSupport},
    schema::SchemaProfile,
};

/// Function generated beside the user's function: reads the arguments, then runs the user's function.
pub type CallFn = for<'a> fn(Call<'a>) -> Running;

/// Expansion of the [`Policy`](crate::auth::Policy) of an attribute.
#[cfg(feature = "auth")]
pub type PolicyFn = fn(&Authorization, &Access<'_>) -> bool;

/// Definition of an annotated function. It can be built in a constant, so that it costs nothing at start-up.
pub struct ItemDef {
    pub(crate) name: &'static str,
    pub(crate) origin: SourceLocation,
    pub(crate) identity: fn() -> TypeId,
    pub(crate) params: fn(&mut ItemParams),
    pub(crate) call: CallFn,
    pub(crate) kind: KindDef,
    pub(crate) title: Option<&'static str>,
    pub(crate) description: Option<&'static str>,
    pub(crate) icons: &'static [Icon],
    pub(crate) group: Option<&'static str>,
    pub(crate) order: i32,
    pub(crate) timeout: Option<Duration>,
    pub(crate) rate: Option<Rate>,
    pub(crate) concurrency: Option<u32>,
    /// Scopes that a caller must have been granted.
    #[cfg(feature = "auth")]
    pub(crate) scopes: &'static [&'static str],
    #[cfg(feature = "auth")]
    pub(crate) policy: Option<PolicyFn>,
    /// Client capabilities that the attribute requires. Parameters may require more.
    pub(crate) asks: Asks,
    /// Whether a client may answer each round of questions only once.
    pub(crate) single_use: bool,
    pub(crate) audience: &'static [Role],
    pub(crate) priority: Option<f64>,
    /// Keys, and values as JSON text.
    pub(crate) meta: &'static [(&'static str, &'static str)],
}

impl fmt::Debug for ItemDef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ItemDef({} at {}:{})", self.name, self.origin.file, self.origin.line)
    }
}

/// Kind of an item, with the properties that only this kind has.
#[derive(Debug)]
pub enum KindDef {
    Tool(ToolDef),
    Resource(ResourceDef),
    Prompt,
    /// Completes arguments of the other kinds. Clients do not see it in a list.
    Completion,
}

/// `input_schema = …`: returns JSON text, or a description of what is wrong with the schema.
type GivenSchema = fn() -> Result<Box<str>, String>;

/// Properties of a tool.
#[derive(Debug)]
pub struct ToolDef {
    pub(crate) read_only: Option<bool>,
    pub(crate) destructive: Option<bool>,
    pub(crate) idempotent: Option<bool>,
    pub(crate) open_world: Option<bool>,
    pub(crate) lenient: bool,
    pub(crate) strict: bool,
    /// Profile of this tool, which overrides that of the server.
    pub(crate) profile: Option<SchemaProfile>,
    /// Replaces the schema made from the parameters.
    pub(crate) input_schema: Option<GivenSchema>,
    /// Whether calls may go on as tasks.
    pub(crate) task: Option<TaskSupport>,
    pub(crate) output: fn() -> Option<OutputSchemaSource>,
    pub(crate) constant: Constant,
}

/// Schemas of a tool that were made at compile time, in the client-compatible form.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Constant {
    pub(crate) input: Option<&'static InputSchema>,
    /// JSON text of the input schema. Like `output_text`, it is empty if the schema is made at run time.
    pub(crate) input_text: &'static [u8],
    pub(crate) output_text: &'static [u8],
    pub(crate) output_is_object: bool,
}

impl Constant {
    pub(crate) const NONE: Self =
        Self { input: None, input_text: &[], output_text: &[], output_is_object: false };
}

/// Properties of a resource.
#[derive(Debug)]
pub struct ResourceDef {
    pub(crate) uri: &'static str,
    /// Empty for a fixed URI.
    pub(crate) segments: &'static [Segment],
    pub(crate) mime_type: Option<&'static str>,
    pub(crate) size: Option<u64>,
    pub(crate) subscribe: Option<bool>,
    pub(crate) cache: Option<CachePolicy>,
}

impl ItemDef {
    const fn new(
        name: &'static str,
        kind: KindDef,
        origin: SourceLocation,
        identity: fn() -> TypeId,
        params: fn(&mut ItemParams),
        call: CallFn,
    ) -> Self {
        Self {
            name,
            origin,
            identity,
            params,
            call,
            kind,
            title: None,
            description: None,
            icons: &[],
            group: None,
            order: 0,
            timeout: None,
            rate: None,
            concurrency: None,
            #[cfg(feature = "auth")]
            scopes: &[],
            #[cfg(feature = "auth")]
            policy: None,
            asks: Asks::new(),
            single_use: false,
            audience: &[],
            priority: None,
            meta: &[],
        }
    }

    pub const fn tool(
        name: &'static str,
        origin: SourceLocation,
        identity: fn() -> TypeId,
        params: fn(&mut ItemParams),
        call: CallFn,
        output: fn() -> Option<OutputSchemaSource>,
    ) -> Self {
        let tool = ToolDef {
            read_only: None,
            destructive: None,
            idempotent: None,
            open_world: None,
            lenient: false,
            strict: false,
            profile: None,
            task: None,
            input_schema: None,
            output,
            constant: Constant::NONE,
        };
        Self::new(name, KindDef::Tool(tool), origin, identity, params, call)
    }

    pub const fn resource(
        name: &'static str,
        uri: &'static str,
        segments: &'static [Segment],
        origin: SourceLocation,
        identity: fn() -> TypeId,
        params: fn(&mut ItemParams),
        call: CallFn,
    ) -> Self {
        let resource = ResourceDef {
            uri,
            segments,
            mime_type: None,
            size: None,
            subscribe: None,
            cache: None,
        };
        Self::new(name, KindDef::Resource(resource), origin, identity, params, call)
    }

    pub const fn prompt(
        name: &'static str,
        origin: SourceLocation,
        identity: fn() -> TypeId,
        params: fn(&mut ItemParams),
        call: CallFn,
    ) -> Self {
        Self::new(name, KindDef::Prompt, origin, identity, params, call)
    }

    pub const fn completion(
        name: &'static str,
        origin: SourceLocation,
        identity: fn() -> TypeId,
        params: fn(&mut ItemParams),
        call: CallFn,
    ) -> Self {
        Self::new(name, KindDef::Completion, origin, identity, params, call)
    }
}

macro_rules! setters {
    ($($name:ident: $ty:ty $(=> $wrap:ident)?;)*) => {
        impl ItemDef {$(
            #[must_use]
            pub const fn $name(mut self, $name: $ty) -> Self {
                self.$name = setters!(@ $($wrap)? $name);
                self
            }
        )*}
    };
    (@ Some $name:ident) => { Some($name) };
    (@ $name:ident) => { $name };
}
setters! {
    title: &'static str => Some;
    description: &'static str => Some;
    icons: &'static [Icon];
    group: &'static str => Some;
    order: i32;
    timeout: Duration => Some;
    rate: Rate => Some;
    concurrency: u32 => Some;
    asks: Asks;
    single_use: bool;
    audience: &'static [Role];
    priority: f64 => Some;
    meta: &'static [(&'static str, &'static str)];
}

#[cfg(feature = "auth")]
impl ItemDef {
    /// Restricts the item to callers who have been granted all of these scopes.
    #[must_use]
    pub const fn scopes(self, scopes: &'static [&'static str]) -> Self {
        Self { scopes, ..self }
    }

    /// Restricts the item to callers whom this policy lets in.
    #[must_use]
    pub const fn policy(self, policy: PolicyFn) -> Self {
        Self { policy: Some(policy), ..self }
    }
}

/// Setters without the feature `auth`. In that case the keys cause a compile error, and these methods prevent further errors.
#[cfg(not(feature = "auth"))]
impl ItemDef {
    #[must_use]
    pub const fn scopes(self, (): ()) -> Self {
        self
    }

    #[must_use]
    pub const fn policy(self, (): ()) -> Self {
        self
    }
}

/// Setters for one kind of item. A call on another kind is a bug in the macro, which the compiler reports.
macro_rules! kind_setters {
    ($kind:ident: $($name:ident($($param:ident: $ty:ty)?) = $value:expr;)*) => {
        impl ItemDef {$(
            #[must_use]
            pub const fn $name(mut self $(, $param: $ty)?) -> Self {
                let KindDef::$kind(def) = &mut self.kind else { panic!("key of another kind of item") };
                def.$name = $value;
                self
            }
        )*}
    };
}
kind_setters! { Tool:
    read_only(value: bool) = Some(value);
    destructive(value: bool) = Some(value);
    idempotent(value: bool) = Some(value);
    open_world(value: bool) = Some(value);
    lenient() = true;
    strict() = true;
    profile(value: SchemaProfile) = Some(value);
    task(support: TaskSupport) = Some(support);
    input_schema(text: GivenSchema) = Some(text);
}
impl ItemDef {
    /// Sets the input schema that was made at compile time. `text` is empty if the compiler could not make it.
    #[must_use]
    pub const fn input(mut self, input: &'static InputSchema, text: &'static [u8]) -> Self {
        let KindDef::Tool(tool) = &mut self.kind else { panic!("key of another kind of item") };
        tool.constant.input = Some(input);
        tool.constant.input_text = text;
        self
    }

    /// Sets the output schema that was made at compile time. `text` is empty if the compiler could not make it.
    #[must_use]
    pub const fn output(mut self, text: &'static [u8], is_object: bool) -> Self {
        let KindDef::Tool(tool) = &mut self.kind else { panic!("key of another kind of item") };
        tool.constant.output_text = text;
        tool.constant.output_is_object = is_object;
        self
    }
}
kind_setters! { Resource:
    mime_type(value: &'static str) = Some(value);
    size(bytes: u64) = Some(bytes);
    subscribe(value: bool) = Some(value);
    cache(value: CachePolicy) = Some(value);
}
