//! Types that a `#[completion]` function can return, and their conversion to the values that the client gets.

use super::IntoFailure;
use crate::{
    error::Error,
    model::{Completion, Done, OperationResult},
};

/// Result type of a `#[completion]` function.
///
/// A completion function can return a `Vec` or an array of texts, a [`Completion`], or a `Result` of these. The server sends at most 100
/// values.
///
/// The server filters the values by the text that the user has typed. It does not filter them if the function takes that text as a
/// parameter, or returns a [`Completion`] with a [`total`](Completion::total). For a fixed list of values, write the list in the attribute
/// of the parameter: `#[complete("red", "green")]`.
///
/// ```
/// use mcp_runtime::prelude::*;
///
/// #[completion]
/// fn colors() -> [&'static str; 3] {
///     ["red", "green", "blue"]
/// }
///
/// /// Describes a color.
/// #[prompt]
/// fn describe(#[complete(colors)] color: &str) -> String {
///     format!("Describe the color {color}.")
/// }
/// # fn main() {}
/// ```
///
/// Specification: Server features, Completion.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not something a completion can return",
    label = "cannot become completion values",
    note = "a completion returns `Vec<String>`, `Vec<&str>`, an array of those, `Completion`, or a `Result` of any of them"
)]
pub trait CompletionReply: Sized {
    #[doc(hidden)]
    fn values(self) -> Result<Completion, Error>;
}

/// Converts the return value of a `#[completion]` function. Called by generated code.
pub fn completion_reply<T: CompletionReply>(value: T) -> OperationResult {
    value.values().map(Done::Completion)
}

#[diagnostic::do_not_recommend]
impl<T: Into<String>> CompletionReply for Vec<T> {
    fn values(self) -> Result<Completion, Error> {
        Ok(Completion::new(self))
    }
}

#[diagnostic::do_not_recommend]
impl<T: Into<String>, const N: usize> CompletionReply for [T; N] {
    fn values(self) -> Result<Completion, Error> {
        Ok(Completion::new(self))
    }
}

#[diagnostic::do_not_recommend]
impl CompletionReply for Completion {
    fn values(self) -> Result<Completion, Error> {
        Ok(self)
    }
}

impl<T: CompletionReply, E: IntoFailure> CompletionReply for Result<T, E> {
    fn values(self) -> Result<Completion, Error> {
        self.map_err(E::into_failure)?.values()
    }
}
