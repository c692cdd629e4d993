//! Classification of parameters by the trait system.
//!
//! Generated code contains `(&&&&Probe::<T>::NEW).tool_param().check::<T>()`. Method look-up tries receivers in the order `&&&P`, `&&&&P`,
//! `&&P`, `&P`, `P`. An impl on an earlier receiver wins if its bounds hold, on stable Rust and through any alias.
//!
//! The last level has no bounds. It takes the types that fit no other level, and its handle has the methods of all other handles. Only its
//! `check` has a bound. This gives one error, E0277 with our message, at the whole type, which the turbofish repeats.

pub(crate) mod constant;
mod json;
mod lent;
mod levels;
mod server;
mod spread;
mod text;
pub mod unfit;

use std::marker::PhantomData;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

pub use levels::{
    ArgumentLevel, LiveLevel, OptionalStrLevel, ParsedLevel, ParsedOptionLevel, ReadLevel,
    ServerLevel, SliceLevel, SliceOptionLevel, SpreadLevel, StrLevel,
};
pub use server::{UnfitReceiverLevel, UnsharedLevel};
pub use spread::{FieldLevel, UnfitFieldLevel};

use super::{Call, Params};
use crate::{
    error::{Error, Result},
    item::ArgDef,
};

/// An argument of a tool: any type that serde can read and schemars can describe.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a parameter",
    label = "clients cannot send it, and the server does not have it",
    note = "what clients send is `String`, a number, `bool`, a list or map, or your own type with `#[data]`: it implements `Deserialize` and `JsonSchema`, with everything in it",
    note = "a type of another crate needs that crate's feature for serde, and schemars' for the crate: `cargo add uuid --features serde` and `cargo add schemars --features uuid1` for `Uuid`",
    note = "what the server has is `&T` or `State<T>`, `&Context`, `Progress`, `Cancel`, `Meta`, `Client`, `Handle`, or a type of yours with `impl FromCall`"
)]
pub trait Argument: DeserializeOwned + JsonSchema + Send + 'static {}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema + Send + 'static> Argument for T {}

/// An argument of a prompt or a template, which is sent as a text.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be read from a text",
    label = "clients send a text here, and this is not made from one",
    note = "arguments of prompts and variables of URIs are texts, one for each parameter: take `String` or a number, or put `#[data]` on an enum of plain names",
    note = "or implement `FromStr` with an error that has `Display`: `impl std::str::FromStr for {Self} {{ type Err = String; fn from_str(text: &str) -> Result<Self, String> {{ Ok(…) }} }}`",
    note = "what the server has is `&T` or `State<T>`, `&Context`, `Progress`, `Cancel`, `Meta`, `Client`, `Handle`, or a type of yours with `impl FromCall`"
)]
pub trait TextArgument: DeserializeOwned + Send + 'static {}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + Send + 'static> TextArgument for T {}

/// Parameters of a plain `fn`: all except those that only make sense while work goes on.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no use in a plain `fn`, which runs in place and must return at once",
    label = "never seen by the client, nor changed while the function runs",
    note = "make the function `async`, or add `blocking` to its attribute to run it on a thread of its own"
)]
pub trait InPlace {}

#[diagnostic::do_not_recommend]
impl<T: ?Sized + NeverImplemented> InPlace for T {}

/// Parameters that `#[arg(…)]` and `#[complete(…)]` apply to.
#[diagnostic::on_unimplemented(
    message = "`{Self}` comes from the server, so there is nothing to say about it to clients",
    label = "not an argument",
    note = "remove `#[arg(…)]` and `#[complete(…)]` from this parameter"
)]
pub trait FromClient {}

#[diagnostic::do_not_recommend]
impl<T: ?Sized + NeverImplemented> FromClient for T {}

/// Trait that no type implements. An impl that could apply keeps rustc from adding a label about a call that the user did not write.
pub trait NeverImplemented {}

/// The type of a parameter, as a value for the method look-up.
#[derive(Debug)]
pub struct Probe<T: ?Sized>(PhantomData<fn() -> PhantomData<T>>);

impl<T: ?Sized> Probe<T> {
    pub const NEW: Self = Self(PhantomData);
}

/// Checks that generated code calls on every handle. A handle that rejects a type (see `unfit`) has an inherent method of the same name,
/// which wins.
pub trait Check: Describe {
    /// Checks the type. `T` is the parameter's type as the user wrote it, so that an error points there.
    fn check<T: ?Sized>(self) -> Self {
        self
    }

    /// Checks that a type owns its data. Called where the argument is read or described, because rustc would otherwise report more errors.
    fn check_owned<T: ?Sized>(self) -> Self {
        self
    }

    /// Called if the function is a plain `fn`, which runs in place.
    fn check_in_place<T: ?Sized>(self) -> Self {
        self
    }

    /// Called if the parameter has attributes that are only for arguments.
    fn check_from_client<T: ?Sized>(self) -> Self {
        self
    }
}
impl<H: Describe> Check for H {}

/// Methods of all handles, for [`Params::add`].
pub trait Describe: Copy {
    /// Value that is kept between reading the argument and passing it.
    type Value;

    fn describe(self, params: &mut Params, def: &'static ArgDef);

    /// Returns the default as JSON, if it is of a type that we can write.
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
    /// Optional argument that is read from JSON and lent as a slice.
    SliceOption;
    /// Read from JSON and lent as a `&str`.
    StrArgument;
    /// Parsed with `FromStr`.
    ParsedArgument;
    /// Optional argument that is parsed with `FromStr`.
    ParsedOption;
    /// A text, lent as a `&str`.
    TextStr;
    /// Read from a text with serde.
    ReadArgument;
    /// Text that the user has typed so far.
    TypedText;
    /// Text that the user has typed so far, lent as a `&str`.
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

/// Returns no default, of a type that the compiler can name.
fn none<T>() -> Option<fn() -> T> {
    None
}
