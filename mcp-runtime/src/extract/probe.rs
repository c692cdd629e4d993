//! Asks the trait system what a parameter is.
//!
//! Generated code writes `(&&&Probe::<T>::NEW).tool_param()`. Method look-up tries receivers in the order `&&P`, `&&&P`, `&P`,
//! `P`, so an impl on an earlier one wins where its bounds hold, on stable Rust and through any alias. The last one has no
//! bound of its own but on the method, so that a type nothing fits gives one error, E0277 with our words, at the type.

mod json;
mod lent;
mod levels;
mod server;
mod spread;
mod text;

use std::marker::PhantomData;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

pub use levels::{
    ArgumentLevel, LiveLevel, NotServerLevel, ParsedLevel, ParsedOptionLevel, ReadLevel,
    ServerLevel, SliceLevel, SpreadLevel, StrLevel, StrOptionLevel,
};

use super::{Call, Params};
use crate::{
    error::{Error, Result},
    item::ArgDef,
};

/// An argument of a tool: anything serde can read and schemars can describe.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a parameter",
    label = "neither an argument nor a value from the server",
    note = "an argument from the client implements `Deserialize` and `JsonSchema`: put `#[data]` on your type",
    note = "a value from the server is `&T` or `State<T>`, `&Context`, `Progress`, `Cancel`, `Meta`, `Client`, `Handle`, or a type of yours with `impl FromCall`"
)]
pub trait Argument: DeserializeOwned + JsonSchema + Send + 'static {}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema + Send + 'static> Argument for T {}

/// An argument of a prompt or a template, which travels as a text.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an argument that travels as text",
    label = "has neither `FromStr` nor `Deserialize`",
    note = "arguments of prompts and templates are texts on the wire: implement `FromStr`, or put `#[data]` on a unit enum",
    note = "a value from the server is `&T` or `State<T>`, `&Context`, `Progress`, `Cancel`, `Meta`, `Client`, `Handle`, or a type of yours with `impl FromCall`"
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

/// The type under question.
#[derive(Debug)]
pub struct Probe<T: ?Sized>(PhantomData<fn() -> PhantomData<T>>);

impl<T: ?Sized> Probe<T> {
    pub const NEW: Self = Self(PhantomData);
}

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
    /// The same, where it is there.
    StrOption;
    /// Parsed with `FromStr`.
    ParsedArgument;
    /// Parsed with `FromStr` where it is there.
    ParsedOption;
    /// A text, lent as a `&str`.
    TextStr;
    /// The same, where it is there.
    TextStrOption;
    /// Read from a text with serde.
    ReadArgument;
    /// What the user has typed so far.
    TypedText;
    /// The same, lent as a `&str`.
    TypedStr;
    /// Members spread over the arguments.
    Spread;
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
