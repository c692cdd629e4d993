use std::{any::TypeId, fmt, time::Duration};

#[cfg(feature = "auth")]
use crate::context::{Access, Authorization};
use crate::{
    extract::{Call, Params, Running},
    item::{InputSchema, template::Segment},
    model::{Asks, CachePolicy, Icon, Rate, Role, TaskSupport},
    reply::OutputSchema,
    schema::SchemaProfile,
};

/// The function generated beside the user's: reads the arguments, then runs the user's function.
pub type CallFn = for<'a> fn(Call<'a>) -> Running;

/// What an attribute's [`Policy`](crate::Policy) becomes.
#[cfg(feature = "auth")]
pub type PolicyFn = fn(&Authorization, &Access<'_>) -> bool;

/// One annotated function. Const-constructible, so that it costs nothing at start-up.
pub struct ItemDef {
    pub(crate) name: &'static str,
    pub(crate) origin: Origin,
    pub(crate) identity: fn() -> TypeId,
    pub(crate) params: fn(&mut Params),
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
    /// What a caller must have been granted.
    #[cfg(feature = "auth")]
    pub(crate) scopes: &'static [&'static str],
    #[cfg(feature = "auth")]
    pub(crate) policy: Option<PolicyFn>,
    /// What the attribute says; parameters may ask for more.
    pub(crate) asks: Asks,
    /// A round of questions must not be answered twice.
    pub(crate) single_use: bool,
    pub(crate) audience: &'static [Role],
    pub(crate) priority: Option<f64>,
    /// Keys and JSON texts.
    pub(crate) meta: &'static [(&'static str, &'static str)],
}

impl fmt::Debug for ItemDef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ItemDef({} at {}:{})", self.name, self.origin.file, self.origin.line)
    }
}

/// The place in the user's code.
#[derive(Clone, Copy, Debug)]
pub struct Origin {
    pub(crate) package: &'static str,
    pub(crate) module: &'static str,
    pub(crate) file: &'static str,
    pub(crate) line: u32,
    pub(crate) function: &'static str,
}

impl Origin {
    pub const fn new(
        package: &'static str,
        module: &'static str,
        file: &'static str,
        line: u32,
        function: &'static str,
    ) -> Self {
        Self { package, module, file, line, function }
    }

    /// The crate's name: the first segment of the module path.
    pub(crate) fn crate_name(&self) -> &'static str {
        self.module.split("::").next().unwrap_or(self.module)
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` at {}:{}", self.function, self.file, self.line)
    }
}

/// What only one kind of item has.
#[derive(Debug)]
pub enum KindDef {
    Tool(ToolDef),
    Resource(ResourceDef),
    Prompt,
    /// Not in any list: completes arguments of the others.
    Completion,
}

/// `input_schema = …`: JSON text, or what is wrong with it.
type GivenSchema = fn() -> Result<Box<str>, String>;

/// A tool's own part.
#[derive(Debug)]
pub struct ToolDef {
    pub(crate) read_only: Option<bool>,
    pub(crate) destructive: Option<bool>,
    pub(crate) idempotent: Option<bool>,
    pub(crate) open_world: Option<bool>,
    pub(crate) lenient: bool,
    pub(crate) strict: bool,
    /// Its own, which goes before the server's.
    pub(crate) profile: Option<SchemaProfile>,
    /// Replaces the schema made from the parameters.
    pub(crate) input_schema: Option<GivenSchema>,
    /// Whether calls may go on as tasks.
    pub(crate) task: Option<TaskSupport>,
    pub(crate) output: fn() -> Option<OutputSchema>,
    pub(crate) constant: Constant,
}

/// What the compiler knows of a tool's schemas, in the client-compatible form.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Constant {
    pub(crate) input: Option<&'static InputSchema>,
    /// The texts; empty where they are made at run time.
    pub(crate) input_text: &'static [u8],
    pub(crate) output_text: &'static [u8],
    pub(crate) output_is_object: bool,
}

impl Constant {
    pub(crate) const NONE: Self =
        Self { input: None, input_text: &[], output_text: &[], output_is_object: false };
}

/// A resource's own part.
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
        origin: Origin,
        identity: fn() -> TypeId,
        params: fn(&mut Params),
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
        origin: Origin,
        identity: fn() -> TypeId,
        params: fn(&mut Params),
        call: CallFn,
        output: fn() -> Option<OutputSchema>,
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
        origin: Origin,
        identity: fn() -> TypeId,
        params: fn(&mut Params),
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
        origin: Origin,
        identity: fn() -> TypeId,
        params: fn(&mut Params),
        call: CallFn,
    ) -> Self {
        Self::new(name, KindDef::Prompt, origin, identity, params, call)
    }

    pub const fn completion(
        name: &'static str,
        origin: Origin,
        identity: fn() -> TypeId,
        params: fn(&mut Params),
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
    /// Only for callers who have been granted all of these.
    #[must_use]
    pub const fn scopes(self, scopes: &'static [&'static str]) -> Self {
        Self { scopes, ..self }
    }

    /// Only for callers whom this lets in.
    #[must_use]
    pub const fn policy(self, policy: PolicyFn) -> Self {
        Self { policy: Some(policy), ..self }
    }
}

/// What the attributes say of a server that knows nobody: nothing, after an error.
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

/// Setters of one kind. On another kind they would be a bug in the macro, which the compiler then reports.
macro_rules! kind_setters {
    ($kind:ident: $($name:ident($($param:ident: $ty:ty)?) = $value:expr;)*) => {
        impl ItemDef {$(
            #[must_use]
            pub const fn $name(mut self $(, $param: $ty)?) -> Self {
                let KindDef::$kind(it) = &mut self.kind else { panic!("key of another kind of item") };
                it.$name = $value;
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
    /// The input schema as the compiler made it; without text if it could not.
    #[must_use]
    pub const fn input(mut self, input: &'static InputSchema, text: &'static [u8]) -> Self {
        let KindDef::Tool(it) = &mut self.kind else { panic!("key of another kind of item") };
        it.constant.input = Some(input);
        it.constant.input_text = text;
        self
    }

    /// The same for the output schema.
    #[must_use]
    pub const fn output(mut self, text: &'static [u8], is_object: bool) -> Self {
        let KindDef::Tool(it) = &mut self.kind else { panic!("key of another kind of item") };
        it.constant.output_text = text;
        it.constant.output_is_object = is_object;
        self
    }
}
kind_setters! { Resource:
    mime_type(value: &'static str) = Some(value);
    size(bytes: u64) = Some(bytes);
    subscribe(value: bool) = Some(value);
    cache(value: CachePolicy) = Some(value);
}
