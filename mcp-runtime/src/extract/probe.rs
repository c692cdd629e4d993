//! Asks the trait system what a parameter is.
//!
//! Generated code writes `(&&&&Probe::<T>::NEW).tool_param().check::<T>()`. Method look-up tries receivers in the order `&&&P`,
//! `&&&&P`, `&&P`, `&P`, `P`, so an impl on an earlier one wins where its bounds hold, on stable Rust and through any alias. The
//! last one has no bounds: it takes what nothing fits, and its handle can do everything the others can. Only its `check` asks for
//! more, which gives one error, E0277 with our words, at the whole type that the turbofish repeats.

pub mod unfit;

use std::{any::Any, borrow::Cow, marker::PhantomData, str::FromStr};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{
    Args, Call, FromCall, Needs, Params, SpreadField, json, missing, params::Source, text, values,
};
use crate::{
    context::{Cancel, Context, Progress},
    error::{Error, Result},
    item::ArgDef,
};

/// An argument of a tool: anything serde can read and schemars can describe.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a parameter",
    label = "clients cannot send it, and the server does not have it",
    note = "what clients send implements `Deserialize` and `JsonSchema`, with everything in it: put `#[data]` on your own types",
    note = "what the server has is `&T` or `State<T>`, `&Context`, `Progress`, `Cancel`, `Meta`, `Client`, `Handle`, or a type of yours with `impl FromCall`"
)]
pub trait Argument: DeserializeOwned + JsonSchema + Send + 'static {}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema + Send + 'static> Argument for T {}

/// An argument of a prompt or a template, which travels as a text.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be read from a text",
    label = "clients send a text here, and this is not made from one",
    note = "arguments of prompts and variables of URIs are texts: implement `FromStr` with an error that has `Display`, or put `#[data]` on an enum of plain names",
    note = "what the server has is `&T` or `State<T>`, `&Context`, `Progress`, `Cancel`, `Meta`, `Client`, `Handle`, or a type of yours with `impl FromCall`"
)]
pub trait TextArgument: DeserializeOwned + Send + 'static {}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + Send + 'static> TextArgument for T {}

/// What a plain `fn` may take: everything but what only makes sense while work goes on.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no use in a plain `fn`, which runs in place and must return at once",
    label = "never seen by the client, nor changed while the function runs",
    note = "make the function `async`, or add `blocking` to its attribute to run it on a thread of its own"
)]
pub trait InPlace {}

#[diagnostic::do_not_recommend]
impl<T: ?Sized + Nothing> InPlace for T {}

/// What `#[arg(…)]` and `#[complete(…)]` may stand on.
#[diagnostic::on_unimplemented(
    message = "`{Self}` comes from the server, so there is nothing to say about it to clients",
    label = "not an argument",
    note = "remove `#[arg(…)]` and `#[complete(…)]` from this parameter"
)]
pub trait FromClient {}

#[diagnostic::do_not_recommend]
impl<T: ?Sized + Nothing> FromClient for T {}

/// No type has it. An impl that could apply keeps rustc from adding a label about a call the user never wrote.
pub trait Nothing {}

/// The type under question.
#[derive(Debug)]
pub struct Probe<T: ?Sized>(PhantomData<fn() -> PhantomData<T>>);

impl<T: ?Sized> Probe<T> {
    pub const NEW: Self = Self(PhantomData);
}

/// What generated code asks of every handle. Handles that refuse (see [`unfit`]) have an inherent method of the same name, which wins.
pub trait Check: Describe {
    /// `T` is the parameter's type once more, as the user wrote it: that is where an error points.
    fn check<T: ?Sized>(self) -> Self {
        self
    }

    /// The function is a plain `fn`, which runs in place.
    fn check_in_place<T: ?Sized>(self) -> Self {
        self
    }

    /// The parameter has attributes that speak of an argument.
    fn check_from_client<T: ?Sized>(self) -> Self {
        self
    }
}
impl<H: Describe> Check for H {}

/// What the handles have in common for [`Params::add`].
pub trait Describe: Copy {
    /// What is kept between reading the argument and passing it.
    type Value;

    fn describe(self, params: &mut Params, def: &'static ArgDef);

    /// The default as JSON, where its type is one we know how to write.
    fn default_json(self, default: Self::Value) -> Option<Value>;
}

macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name<T>(PhantomData<fn() -> PhantomData<T>>);

        impl<T> Clone for $name<T> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<T> Copy for $name<T> {}

        impl<T> $name<T> {
            const NEW: Self = Self(PhantomData);
        }
    )*};
}
handles! {
    /// Made from the call.
    ServerValue;
    /// `Progress` and `Cancel`: made from the call, but not for a plain `fn`.
    LiveValue;
    /// Read from JSON.
    JsonArgument;
    /// Read from JSON and lent as a slice.
    SliceArgument;
    /// Read from JSON and lent as a `&str`.
    StrArgument;
    /// Parsed with `FromStr`.
    ParsedArgument;
    /// Parsed with `FromStr` where it is there.
    ParsedOption;
    /// A text, lent as a `&str`.
    TextStr;
    /// Read from a text with serde.
    ReadArgument;
    /// What the user has typed so far.
    TypedText;
    /// The same, lent as a `&str`.
    TypedStr;
    /// Members spread over the arguments.
    Spread;
    /// Read from JSON and lent as an `Option<&str>`.
    OptionalStr;
    /// A text, lent as an `Option<&str>`.
    OptionalTextStr;
}

/// A value on its way to the function: owned arguments are moved out when passed.
#[derive(Debug)]
pub struct Slot<T>(Option<T>);

impl<T> Slot<T> {
    fn take(&mut self) -> Result<T> {
        self.0.take().ok_or_else(|| Error::internal("an argument was passed twice"))
    }
}

fn refuse<T>(call: &mut Call<'_>, def: &ArgDef, problem: impl std::fmt::Display) -> Option<T> {
    call.problem(format!("`{}`: {problem}", def.name));
    None
}

// ---- values from the server ---------------------------------------------------------------------

macro_rules! from_call {
    ($handle:ident) => {
        impl<T> $handle<T> {
            pub fn read(self, _: &mut Call<'_>, _: &'static ArgDef) -> Option<()> {
                Some(())
            }

            /// Unreachable: `check_from_client` has refused the default.
            pub fn read_or<D>(
                self,
                _: &mut Call<'_>,
                _: &'static ArgDef,
                _: impl FnOnce() -> D,
            ) -> Option<()> {
                Some(())
            }

            pub fn pass<'a>(self, context: &'a Context, _: &'a mut ()) -> Result<T>
            where
                T: FromCall<'a>,
            {
                T::from_call(context)
            }
        }

        impl<'a, T: FromCall<'a>> Describe for $handle<T> {
            type Value = ();

            fn describe(self, params: &mut Params, _: &'static ArgDef) {
                params.server::<T>();
            }

            fn default_json(self, (): ()) -> Option<Value> {
                None
            }
        }
    };
}
from_call!(ServerValue);
from_call!(LiveValue);

impl<T> ServerValue<T> {
    pub fn check_from_client<X: ?Sized + FromClient>(self) -> Self {
        self
    }
}

impl<T> LiveValue<T> {
    pub fn check_from_client<X: ?Sized + FromClient>(self) -> Self {
        self
    }

    pub fn check_in_place<X: ?Sized + InPlace>(self) -> Self {
        self
    }
}

/// The receiver of a method: `&self` is state.
#[derive(Debug)]
pub struct Receiver<T> {
    from_call: for<'a> fn(&'a Context) -> Result<&'a T>,
    needs: fn(&mut Needs),
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Receiver<T> {}

/// Only here is anything asked of the type, so that it gives one error.
pub fn receiver<T: Send + Sync + 'static>() -> Receiver<T> {
    Receiver { from_call: |context| <&T>::from_call(context), needs: <&T>::needs }
}

impl<T> Receiver<T> {
    pub fn read(self, _: &mut Call<'_>, _: &'static ArgDef) -> Option<()> {
        Some(())
    }

    pub fn pass<'a>(self, context: &'a Context, (): &mut ()) -> Result<&'a T> {
        (self.from_call)(context)
    }
}

impl<T> Describe for Receiver<T> {
    type Value = ();

    fn describe(self, params: &mut Params, _: &'static ArgDef) {
        (self.needs)(&mut params.needs);
    }

    fn default_json(self, (): ()) -> Option<Value> {
        None
    }
}

/// Told apart from other server values, so that a plain `fn` cannot take them.
pub trait Live {}
impl Live for Progress {}
impl Live for Cancel {}

pub trait LiveLevel<T> {
    fn tool_param(&self) -> LiveValue<T> {
        LiveValue::NEW
    }
    fn text_param(&self) -> LiveValue<T> {
        LiveValue::NEW
    }
    fn server_param(&self) -> LiveValue<T> {
        LiveValue::NEW
    }
    fn completion_param(&self) -> LiveValue<T> {
        LiveValue::NEW
    }
}
impl<T: Live> LiveLevel<T> for &&&Probe<T> {}

pub trait ServerLevel<T> {
    fn tool_param(&self) -> ServerValue<T> {
        ServerValue::NEW
    }
    fn text_param(&self) -> ServerValue<T> {
        ServerValue::NEW
    }
    fn server_param(&self) -> ServerValue<T> {
        ServerValue::NEW
    }
    fn completion_param(&self) -> ServerValue<T> {
        ServerValue::NEW
    }
}
impl<'a, T: FromCall<'a>> ServerLevel<T> for &&&&Probe<T> {}

// ---- arguments of tools -------------------------------------------------------------------------

pub trait StrLevel<'s> {
    fn tool_param(&self) -> StrArgument<&'s str> {
        StrArgument::NEW
    }
    fn text_param(&self) -> TextStr<&'s str> {
        TextStr::NEW
    }
    fn completion_param(&self) -> TypedStr<&'s str> {
        TypedStr::NEW
    }
}
impl<'s> StrLevel<'s> for &&Probe<&'s str> {}

pub trait OptionalStrLevel<'s> {
    fn tool_param(&self) -> OptionalStr<Option<&'s str>> {
        OptionalStr::NEW
    }
    fn text_param(&self) -> OptionalTextStr<Option<&'s str>> {
        OptionalTextStr::NEW
    }
    fn completion_param(&self) -> OptionalTextStr<Option<&'s str>> {
        OptionalTextStr::NEW
    }
}
impl<'s> OptionalStrLevel<'s> for &&Probe<Option<&'s str>> {}

pub trait SliceLevel<T> {
    fn tool_param(&self) -> SliceArgument<T> {
        SliceArgument::NEW
    }
}
impl<T: Argument> SliceLevel<T> for &&Probe<&[T]> {}

pub trait SpreadLevel<T> {
    fn tool_param(&self) -> Spread<T> {
        Spread::NEW
    }
}
impl<T: Argument> SpreadLevel<T> for &&Probe<Args<T>> {}

pub trait ArgumentLevel<T> {
    fn tool_param(&self) -> JsonArgument<T> {
        JsonArgument::NEW
    }
}
impl<T: Argument> ArgumentLevel<T> for &Probe<T> {}

fn read_json<T: Argument>(
    call: &mut Call<'_>,
    def: &'static ArgDef,
    default: Option<impl FnOnce() -> T>,
) -> Option<T> {
    let raw = call.json(def.name);
    // Clients that know no "absent" send null for what they leave out.
    let raw = raw.filter(|it| !(it.is_null() && default.is_some()));
    let Some(raw) = raw else {
        return match default {
            Some(default) => Some(default()),
            None => match missing::value() {
                Ok(value) => Some(value),
                Err(expected) => refuse(call, def, format_args!("missing, expected {expected}")),
            },
        };
    };
    match json::read::<T>(raw, call.is_strict()) {
        Ok((value, reread)) => {
            match def.constraints.check(reread.as_deref().unwrap_or(raw.as_str())) {
                None => Some(value),
                Some(problem) => refuse(call, def, problem),
            }
        }
        Err(problem) => refuse(call, def, problem),
    }
}

/// No default, of a type the compiler can name.
fn none<T>() -> Option<fn() -> T> {
    None
}

/// A known primitive as JSON. Other types could only be written with a `Serialize` the argument need not have.
fn primitive_json<T: 'static>(value: &T) -> Option<Value> {
    let value: &dyn Any = value;
    macro_rules! try_types {
        ($($ty:ty)*) => {$(
            if let Some(it) = value.downcast_ref::<$ty>() {
                return serde_json::to_value(it).ok();
            }
            if let Some(Some(it)) = value.downcast_ref::<Option<$ty>>() {
                return serde_json::to_value(it).ok();
            }
            if let Some(it) = value.downcast_ref::<Vec<$ty>>() {
                return serde_json::to_value(it).ok();
            }
        )*};
    }
    try_types! { bool u8 u16 u32 u64 usize i8 i16 i32 i64 isize f32 f64 String std::path::PathBuf }
    None
}

macro_rules! json_handles {
    ($($handle:ident<$t:ident> holds $value:ty, gives $given:ty, lends |$slot:ident| $lend:expr;)*) => {$(
        impl<$t: Argument> $handle<$t> {
            pub fn read(self, call: &mut Call<'_>, def: &'static ArgDef) -> Option<Slot<$value>> {
                read_json(call, def, none()).map(|it| Slot(Some(it)))
            }

            pub fn read_or(
                self,
                call: &mut Call<'_>,
                def: &'static ArgDef,
                default: impl FnOnce() -> $value,
            ) -> Option<Slot<$value>> {
                read_json(call, def, Some(default)).map(|it| Slot(Some(it)))
            }

            pub fn pass<'a>(self, _: &'a Context, $slot: &'a mut Slot<$value>) -> Result<$given> {
                $lend
            }
        }

        impl<$t: Argument> Describe for $handle<$t> {
            type Value = $value;

            fn describe(self, params: &mut Params, def: &'static ArgDef) {
                params.field(
                    def,
                    Source::Json {
                        schema: |generator| generator.subschema_for::<$value>(),
                        required: missing::is_required::<$value>,
                    },
                );
            }

            fn default_json(self, default: $value) -> Option<Value> {
                primitive_json(&default)
            }
        }
    )*};
}
json_handles! {
    JsonArgument<T> holds T, gives T, lends |slot| slot.take();
    SliceArgument<T> holds Vec<T>, gives &'a [T], lends |slot| Ok(slot.0.as_deref().unwrap_or_default());
}

impl<'s> StrArgument<&'s str> {
    pub fn read(self, call: &mut Call<'_>, def: &'static ArgDef) -> Option<Slot<String>> {
        read_json(call, def, none()).map(|it| Slot(Some(it)))
    }

    pub fn read_or(
        self,
        call: &mut Call<'_>,
        def: &'static ArgDef,
        default: impl FnOnce() -> String,
    ) -> Option<Slot<String>> {
        read_json(call, def, Some(default)).map(|it| Slot(Some(it)))
    }

    pub fn pass<'a>(self, _: &'a Context, slot: &'a mut Slot<String>) -> Result<&'s str>
    where
        'a: 's,
    {
        Ok(slot.0.as_deref().unwrap_or_default())
    }
}

impl Describe for StrArgument<&str> {
    type Value = String;

    fn describe(self, params: &mut Params, def: &'static ArgDef) {
        JsonArgument::<String>::NEW.describe(params, def);
    }

    fn default_json(self, default: String) -> Option<Value> {
        Some(default.into())
    }
}

impl<'s> OptionalStr<Option<&'s str>> {
    pub fn read(self, call: &mut Call<'_>, def: &'static ArgDef) -> Option<Slot<Option<String>>> {
        JsonArgument::<Option<String>>::NEW.read(call, def)
    }

    pub fn read_or(
        self,
        call: &mut Call<'_>,
        def: &'static ArgDef,
        default: impl FnOnce() -> Option<String>,
    ) -> Option<Slot<Option<String>>> {
        JsonArgument::<Option<String>>::NEW.read_or(call, def, default)
    }

    pub fn pass<'a>(
        self,
        _: &'a Context,
        slot: &'a mut Slot<Option<String>>,
    ) -> Result<Option<&'s str>>
    where
        'a: 's,
    {
        Ok(slot.0.as_ref().and_then(Option::as_deref))
    }
}

impl Describe for OptionalStr<Option<&str>> {
    type Value = Option<String>;

    fn describe(self, params: &mut Params, def: &'static ArgDef) {
        JsonArgument::<Option<String>>::NEW.describe(params, def);
    }

    fn default_json(self, default: Option<String>) -> Option<Value> {
        JsonArgument::<Option<String>>::NEW.default_json(default)
    }
}

// ---- spread arguments ---------------------------------------------------------------------------

impl<T: Argument> Spread<T> {
    pub fn read(self, call: &mut Call<'_>, _: &'static ArgDef) -> Option<Slot<T>> {
        super::spread::read(call).map(|it| Slot(Some(it)))
    }

    pub fn pass<'a>(self, _: &'a Context, slot: &'a mut Slot<T>) -> Result<Args<T>> {
        slot.take().map(Args)
    }
}

impl<T: Argument> Describe for Spread<T> {
    type Value = T;

    fn describe(self, params: &mut Params, def: &'static ArgDef) {
        params.field(def, Source::Spread { schema: |generator| generator.subschema_for::<T>() });
    }

    fn default_json(self, _: T) -> Option<Value> {
        None
    }
}

pub trait FieldLevel<F> {
    fn field_param<T>(&self, get: fn(F) -> T) -> SpreadField<F, T>;
}
impl<F: Argument> FieldLevel<F> for &Probe<F> {
    fn field_param<T>(&self, get: fn(F) -> T) -> SpreadField<F, T> {
        let schema = |generator: &mut SchemaGenerator| generator.subschema_for::<F>();
        SpreadField { get, read: super::spread::read, schema }
    }
}

/// The struct that the macro wrote failed to derive, and the derives have said why.
pub trait UnfitFieldLevel<F> {
    fn field_param<T>(&self, get: fn(F) -> T) -> SpreadField<F, T>;
}
impl<F> UnfitFieldLevel<F> for Probe<F> {
    fn field_param<T>(&self, get: fn(F) -> T) -> SpreadField<F, T> {
        SpreadField { get, read: |_| None, schema: |_| Schema::default() }
    }
}

impl<F, T> SpreadField<F, T> {
    pub fn read(self, call: &mut Call<'_>, _: &'static ArgDef) -> Option<Slot<F>> {
        (self.read)(call).map(|it| Slot(Some(it)))
    }

    pub fn pass<'a>(self, _: &'a Context, slot: &'a mut Slot<F>) -> Result<T> {
        slot.take().map(self.get)
    }
}

impl<F, T> Describe for SpreadField<F, T> {
    type Value = F;

    fn describe(self, params: &mut Params, def: &'static ArgDef) {
        params.field(def, Source::Spread { schema: self.schema });
    }

    fn default_json(self, _: F) -> Option<Value> {
        None
    }
}

// ---- arguments that travel as text --------------------------------------------------------------

pub trait ParsedLevel<T> {
    fn text_param(&self) -> ParsedArgument<T> {
        ParsedArgument::NEW
    }
    fn completion_param(&self) -> TypedText<T> {
        TypedText::NEW
    }
}
impl<T: FromStr<Err: std::fmt::Display> + Send + 'static> ParsedLevel<T> for &&Probe<T> {}

pub trait ParsedOptionLevel<T> {
    fn text_param(&self) -> ParsedOption<T> {
        ParsedOption::NEW
    }
    fn completion_param(&self) -> ParsedOption<T> {
        ParsedOption::NEW
    }
}
impl<T: FromStr<Err: std::fmt::Display> + Send + 'static> ParsedOptionLevel<T>
    for &&Probe<Option<T>>
{
}

pub trait ReadLevel<T> {
    fn text_param(&self) -> ReadArgument<T> {
        ReadArgument::NEW
    }
    fn completion_param(&self) -> ReadArgument<T> {
        ReadArgument::NEW
    }
}
impl<T: TextArgument> ReadLevel<T> for &Probe<T> {}

/// The text of an argument after the checks every kind of type shares, or why there is none.
fn read_text<'a>(
    call: &mut Call<'a>,
    def: &'static ArgDef,
) -> Result<Option<Cow<'a, str>>, String> {
    let Some(text) = call.text(def.name) else { return Ok(None) };
    match def.constraints.check_text(&text) {
        Some(problem) => Err(problem),
        None => Ok(Some(text)),
    }
}

macro_rules! text_handles {
    ($($handle:ident<$t:ty> [$($generics:tt)*] holds $value:ty, gives $given:ty, lends |$slot:ident| $lend:expr,
        parses |$text:ident| $parse:expr, absent $absent:expr, required $required:expr, values $values:expr;)*) => {$(
        impl<$($generics)*> $handle<$t> {
            pub fn read(self, call: &mut Call<'_>, def: &'static ArgDef) -> Option<Slot<$value>> {
                self.fill(call, def, none())
            }

            pub fn read_or(
                self,
                call: &mut Call<'_>,
                def: &'static ArgDef,
                default: impl FnOnce() -> $value,
            ) -> Option<Slot<$value>> {
                self.fill(call, def, Some(default))
            }

            fn fill(
                self,
                call: &mut Call<'_>,
                def: &'static ArgDef,
                default: Option<impl FnOnce() -> $value>,
            ) -> Option<Slot<$value>> {
                let $text = match read_text(call, def) {
                    Ok(Some(text)) => text,
                    Ok(None) => {
                        let absent: Result<$value, String> = match default {
                            Some(default) => Ok(default()),
                            None => $absent,
                        };
                        return match absent {
                            Ok(value) => Some(Slot(Some(value))),
                            Err(problem) => refuse(call, def, problem),
                        };
                    }
                    Err(problem) => return refuse(call, def, problem),
                };
                let parsed: Result<$value, String> = $parse;
                match parsed {
                    Ok(value) => Some(Slot(Some(value))),
                    Err(problem) => refuse(call, def, problem),
                }
            }

            pub fn pass<'a>(self, _: &'a Context, $slot: &'a mut Slot<$value>) -> Result<$given> {
                $lend
            }
        }

        impl<$($generics)*> Describe for $handle<$t> {
            type Value = $value;

            fn describe(self, params: &mut Params, def: &'static ArgDef) {
                params.field(def, Source::Text { required: $required, values: $values });
            }

            fn default_json(self, default: $value) -> Option<Value> {
                primitive_json(&default)
            }
        }
    )*};
}
text_handles! {
    ParsedArgument<T> [T: FromStr<Err: std::fmt::Display> + Send + 'static] holds T, gives T, lends |slot| slot.take(),
        parses |text| text.parse().map_err(|error: T::Err| format!("{text:?}: {error}")),
        absent Err("missing".to_owned()),
        required true,
        values parsed_values::<T>;
    ParsedOption<T> [T: FromStr<Err: std::fmt::Display> + Send + 'static] holds Option<T>, gives Option<T>,
        lends |slot| slot.take(),
        parses |text| text.parse().map(Some).map_err(|error: T::Err| format!("{text:?}: {error}")),
        absent Ok(None),
        required false,
        values parsed_values::<T>;
    ReadArgument<T> [T: TextArgument] holds T, gives T, lends |slot| slot.take(),
        parses |text| text::read(&text),
        absent missing::value().map_err(|expected| format!("missing, expected {expected}")),
        required missing::is_required::<T>(),
        values values::of::<T>;
}

/// The values of a type that is parsed: only `bool` is known here, since an enum's `FromStr` need not spell them as serde does.
fn parsed_values<T: 'static>() -> Vec<&'static str> {
    if std::any::TypeId::of::<T>() == std::any::TypeId::of::<bool>() {
        vec!["true", "false"]
    } else {
        Vec::new()
    }
}

impl<'s> TextStr<&'s str> {
    pub fn read(self, call: &mut Call<'_>, def: &'static ArgDef) -> Option<Slot<String>> {
        ParsedArgument::<String>::NEW.read(call, def)
    }

    pub fn read_or(
        self,
        call: &mut Call<'_>,
        def: &'static ArgDef,
        default: impl FnOnce() -> String,
    ) -> Option<Slot<String>> {
        ParsedArgument::<String>::NEW.read_or(call, def, default)
    }

    pub fn pass<'a>(self, _: &'a Context, slot: &'a mut Slot<String>) -> Result<&'s str>
    where
        'a: 's,
    {
        Ok(slot.0.as_deref().unwrap_or_default())
    }
}

impl Describe for TextStr<&str> {
    type Value = String;

    fn describe(self, params: &mut Params, def: &'static ArgDef) {
        ParsedArgument::<String>::NEW.describe(params, def);
    }

    fn default_json(self, default: String) -> Option<Value> {
        Some(default.into())
    }
}

impl<'s> OptionalTextStr<Option<&'s str>> {
    pub fn read(self, call: &mut Call<'_>, def: &'static ArgDef) -> Option<Slot<Option<String>>> {
        ParsedOption::<String>::NEW.read(call, def)
    }

    pub fn read_or(
        self,
        call: &mut Call<'_>,
        def: &'static ArgDef,
        default: impl FnOnce() -> Option<String>,
    ) -> Option<Slot<Option<String>>> {
        ParsedOption::<String>::NEW.read_or(call, def, default)
    }

    pub fn pass<'a>(
        self,
        _: &'a Context,
        slot: &'a mut Slot<Option<String>>,
    ) -> Result<Option<&'s str>>
    where
        'a: 's,
    {
        Ok(slot.0.as_ref().and_then(Option::as_deref))
    }
}

impl Describe for OptionalTextStr<Option<&str>> {
    type Value = Option<String>;

    fn describe(self, params: &mut Params, def: &'static ArgDef) {
        ParsedOption::<String>::NEW.describe(params, def);
    }

    fn default_json(self, default: Option<String>) -> Option<Value> {
        ParsedOption::<String>::NEW.default_json(default)
    }
}

// ---- the typed text of a completion -------------------------------------------------------------

impl<T: FromStr<Err: std::fmt::Display> + Send + 'static> TypedText<T> {
    pub fn read(self, call: &mut Call<'_>, def: &'static ArgDef) -> Option<Slot<T>> {
        match call.typed().parse() {
            Ok(value) => Some(Slot(Some(value))),
            Err(error) => refuse(call, def, error),
        }
    }

    pub fn pass<'a>(self, _: &'a Context, slot: &'a mut Slot<T>) -> Result<T> {
        slot.take()
    }
}

impl<T: FromStr<Err: std::fmt::Display> + Send + 'static> Describe for TypedText<T> {
    type Value = T;

    fn describe(self, params: &mut Params, _: &'static ArgDef) {
        params.takes_typed_text = true;
    }

    fn default_json(self, _: T) -> Option<Value> {
        None
    }
}

impl<'s> TypedStr<&'s str> {
    pub fn read(self, call: &mut Call<'_>, _: &'static ArgDef) -> Option<Slot<String>> {
        Some(Slot(Some(call.typed().to_owned())))
    }

    pub fn pass<'a>(self, _: &'a Context, slot: &'a mut Slot<String>) -> Result<&'s str>
    where
        'a: 's,
    {
        Ok(slot.0.as_deref().unwrap_or_default())
    }
}

impl Describe for TypedStr<&str> {
    type Value = String;

    fn describe(self, params: &mut Params, _: &'static ArgDef) {
        params.takes_typed_text = true;
    }

    fn default_json(self, _: String) -> Option<Value> {
        None
    }
}
