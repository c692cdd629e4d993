//! Classification of parameters by the trait system.
//!
//! Generated code contains `(&&&&Probe::<T>::NEW).tool_param().check::<T>()`. Method look-up tries receivers in the order `&&&P`, `&&&&P`,
//! `&&P`, `&P`, `P`. An impl on an earlier receiver wins if its bounds hold. This works on stable Rust, and through type aliases.
//!
//! The last level has no bounds, and accepts the types that fit no other level. Its handle has all methods of the other handles. Only
//! `check` has a bound, so rustc reports a single error: E0277 with our message. The turbofish repeats the type as the user wrote it, so
//! the error underlines the whole type.

use std::{any::type_name, fmt::Display, marker::PhantomData, str::FromStr};

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::{Describe, FromCall};
use crate::{
    call::context::{Cancel, Progress},
    call::read::BoundedForm,
    error::{Error, Result},
    item::Param,
    schema::constant::{Schema, Top},
};

/// An argument of a tool: any type that serde can read and schemars can describe.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a parameter",
    label = "clients cannot send it, and the server does not have it",
    note = "clients can send `String`, a number, `bool`, a list or map, or your own type with `#[data]`; the type and everything in it must implement `Deserialize` and `JsonSchema`",
    note = "a type from another crate needs that crate's feature for serde, and the feature of schemars for that crate: for `Uuid`, run `cargo add uuid --features serde` and `cargo add schemars --features uuid1`",
    note = "the server provides `&T` or `State<T>`, `&Context`, `Progress`, `Cancel`, `Meta`, `Client`, `Handle`, and your own types with `impl FromCall`"
)]
pub trait Argument: DeserializeOwned + JsonSchema + Send + 'static {}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema + Send + 'static> Argument for T {}

/// An argument of a prompt or a template, which is sent as a text.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be read from text",
    label = "clients send text here, and this type cannot be made from text",
    note = "arguments of prompts and variables of URIs are strings, one for each parameter: take `String` or a number, or put `#[data]` on an enum whose variants have no fields",
    note = "or implement `FromStr` with an error that implements `Display`: `impl std::str::FromStr for {Self} {{ type Err = String; fn from_str(text: &str) -> Result<Self, String> {{ Ok(…) }} }}`",
    note = "the server provides `&T` or `State<T>`, `&Context`, `Progress`, `Cancel`, `Meta`, `Client`, `Handle`, and your own types with `impl FromCall`"
)]
pub trait TextArgument: DeserializeOwned + Send + 'static {}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + Send + 'static> TextArgument for T {}

/// Parameters that a plain `fn` can take. `Progress` and `Cancel` are not among them, because they are useful only in a function that runs
/// for some time.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no use in a plain `fn`, which runs in place and must return at once",
    label = "never reaches the client, and never changes while the function runs",
    note = "make the function `async`, or add `blocking` to its attribute to run it on a thread of its own"
)]
pub trait InPlace {}

#[diagnostic::do_not_recommend]
impl<T: ?Sized + NeverImplemented> InPlace for T {}

/// Parameters that `#[arg(…)]` and `#[complete(…)]` apply to.
#[diagnostic::on_unimplemented(
    message = "`{Self}` comes from the server, so attributes of arguments have no effect on it",
    label = "not an argument",
    note = "remove `#[arg(…)]` and `#[complete(…)]` from this parameter"
)]
pub trait FromClient {}

#[diagnostic::do_not_recommend]
impl<T: ?Sized + NeverImplemented> FromClient for T {}

/// Trait that no type implements. A blanket impl with this bound never applies, but with it rustc's errors point to code that the user
/// wrote, and not to calls in generated code.
pub trait NeverImplemented {}

/// The type of a parameter, as a value for the method look-up.
#[derive(Debug)]
pub struct Probe<T: ?Sized>(PhantomData<fn() -> PhantomData<T>>);

impl<T: ?Sized> Probe<T> {
    pub const NEW: Self = Self(PhantomData);
}

/// Checks that generated code calls on every handle. A handle that rejects a type (see `unfit_handles`) has an inherent method of the
/// same name, which takes precedence.
pub trait Check: Describe {
    /// Checks the type. `T` is the parameter's type as the user wrote it, so that an error points there.
    fn check<T: ?Sized>(self) -> Self {
        self
    }

    /// Checks that the type owns its data. Generated code calls this method both where it reads and where it describes the argument.
    /// Without one of the two calls, rustc would report further errors there.
    fn check_owned<T: ?Sized>(self) -> Self {
        self
    }

    /// Checks that a plain `fn`, which runs in place, can take the parameter. Called only for such functions.
    fn check_in_place<T: ?Sized>(self) -> Self {
        self
    }

    /// Checks that the parameter may have attributes such as `#[arg(…)]`. Called only for parameters with such attributes.
    fn check_from_client<T: ?Sized>(self) -> Self {
        self
    }
}
impl<H: Describe> Check for H {}

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
            pub(super) const NEW: Self = Self(PhantomData);
        }
    )*};
}
handles! {
    /// Value that comes from the server.
    ServerValue;
    /// `Progress` or `Cancel`, which come from the server, and which a plain `fn` cannot take.
    LiveValue;
    /// Argument read from JSON.
    JsonArgument;
    /// Argument read from JSON and lent as a slice.
    SliceArgument;
    /// Optional argument read from JSON and lent as a slice.
    SliceOption;
    /// Argument read from JSON and lent as a `&str`.
    StrArgument;
    /// Argument parsed with `FromStr`.
    ParsedArgument;
    /// Optional argument parsed with `FromStr`.
    ParsedOption;
    /// Text argument lent as a `&str`.
    TextStr;
    /// Text argument read with serde.
    ReadArgument;
    /// Text that the user has typed so far.
    TypedText;
    /// Text that the user has typed so far, lent as a `&str`.
    TypedStr;
    /// Struct whose fields are arguments.
    Spread;
    /// Argument read from JSON and lent as an `Option<&str>`.
    OptionalStr;
    /// Text argument lent as an `Option<&str>`.
    OptionalTextStr;
}

/// Slot for the value of an argument, from reading the argument to calling the function. Owned values are moved out of the slot.
#[derive(Debug)]
pub struct ValueSlot<T>(pub(super) Option<T>);

impl<T> ValueSlot<T> {
    pub(super) fn take(&mut self) -> Result<T> {
        self.0.take().ok_or_else(|| Error::internal("an argument was passed twice"))
    }
}

// Levels of the method look-up. An impl on an earlier receiver wins if its bounds hold. The levels for types that cannot be parameters are
// in `unfit_handles`.

/// Server values that a plain `fn` cannot take.
pub trait LiveParam {}
impl LiveParam for Progress {}
impl LiveParam for Cancel {}

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
impl<T: LiveParam> LiveLevel<T> for &&&Probe<T> {}

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

pub trait SliceOptionLevel<T> {
    fn tool_param(&self) -> SliceOption<T> {
        SliceOption::NEW
    }
}
impl<T: Argument> SliceOptionLevel<T> for &&Probe<Option<&[T]>> {}

pub trait ArgumentLevel<T> {
    fn tool_param(&self) -> JsonArgument<T> {
        JsonArgument::NEW
    }
}
impl<T: Argument> ArgumentLevel<T> for &Probe<T> {}

pub trait ParsedLevel<T> {
    fn text_param(&self) -> ParsedArgument<T> {
        ParsedArgument::NEW
    }
    fn completion_param(&self) -> TypedText<T> {
        TypedText::NEW
    }
}
impl<T: FromStr<Err: Display> + Send + 'static> ParsedLevel<T> for &&Probe<T> {}

pub trait ParsedOptionLevel<T> {
    fn text_param(&self) -> ParsedOption<T> {
        ParsedOption::NEW
    }
    fn completion_param(&self) -> ParsedOption<T> {
        ParsedOption::NEW
    }
}
impl<T: FromStr<Err: Display> + Send + 'static> ParsedOptionLevel<T> for &&Probe<Option<T>> {}

pub trait ReadLevel<T> {
    fn text_param(&self) -> ReadArgument<T> {
        ReadArgument::NEW
    }
    fn completion_param(&self) -> ReadArgument<T> {
        ReadArgument::NEW
    }
}
impl<T: TextArgument> ReadLevel<T> for &Probe<T> {}

// Classification in const code, where trait methods are not available. An inherent constant takes precedence over a trait's constant if its
// bounds hold. This technique distinguishes only two cases, so each property of a type needs its own constant.

impl<'a, T: FromCall<'a>> Probe<T> {
    /// Whether the value comes from the server.
    pub const IS_SERVER: bool = true;
}

impl<T: FromStr<Err: Display>> Probe<T> {
    /// Whether the type implements `FromStr`.
    pub const IS_PARSED: bool = true;
}

impl<T: BoundedForm> Probe<T> {
    /// First field with a bound that applies only to answers of users.
    pub const BOUND: Option<&'static str> = Some(T::FIELD);
}

impl<T: Schema<Top> + ?Sized> Probe<T> {
    pub const PARAM: Param = Param::Argument(T::NODE);
}

/// Fallback for every other parameter.
pub trait UnknownParam {
    const IS_SERVER: bool = false;
    const IS_PARSED: bool = false;
    const BOUND: Option<&'static str> = None;
    const PARAM: Param;
}
impl<T: ?Sized> UnknownParam for Probe<T> {
    const PARAM: Param = Param::Unknown(type_name::<T>);
}
