//! Results of `#[completion]` functions.

use super::IntoFailure;
use crate::{
    error::Error,
    model::{Completion, Done, OperationResult},
};

/// Result type of a `#[completion]` function: a `Vec` or an array of texts, a [`Completion`] with a total, or a `Result` of these.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not something a completion can return",
    label = "cannot become completion values",
    note = "a completion returns `Vec<String>`, `Vec<&str>`, an array of those, `Completion`, or a `Result` of any of them"
)]
pub trait CompletionReply: Sized {
    #[doc(hidden)]
    fn values(self) -> Result<Completion, Error>;
}

/// Converts the return value of a `#[completion]` function. Generated code calls it.
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
