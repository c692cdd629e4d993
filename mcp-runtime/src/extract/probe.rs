//! Asks the trait system what a parameter is.
//!
//! Generated code writes `(&&&&Probe::<T>::NEW).tool_param().check::<T>()`. Method look-up tries receivers in
//! the order `&&&P`, `&&&&P`, `&&P`, `&P`, `P`, so an impl on an earlier one wins where its bounds hold, on
//! stable Rust and through any alias. The last one has no bounds: it takes what nothing fits, and its handle
//! can do everything the others can. Only its `check` asks for more, which gives one error, E0277 with our
//! words, at the whole type that the turbofish repeats.

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

/// An argument of a tool: anything serde can read and schemars can describe.
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

/// An argument of a prompt or a template, which travels as a text.
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

/// What generated code asks of every handle. Handles that refuse (see `unfit`) have an inherent method of the
/// same name, which wins.
pub trait Check: Describe {
    /// `T` is the parameter's type once more, as the user wrote it: that is where an error points.
    fn check<T: ?Sized>(self) -> Self {
        self
    }

    /// Asked wherever the argument is read or described, for else rustc says more of a type that borrows.
    fn check_owned<T: ?Sized>(self) -> Self {
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
    /// The same, where it need not be there.
    SliceOption;
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

/// No default, of a type the compiler can name.
fn none<T>() -> Option<fn() -> T> {
    None
}
