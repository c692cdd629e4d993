//! Types that a `#[prompt]` function can return, and their conversion to the messages that the client gets.

use super::{IntoFailure, WithMeta};
use crate::{
    error::Error,
    model::{
        Audio, Content, Done, Embedded, Image, Message, OperationResult, PromptResult,
        ResourceLink, Text,
    },
};

/// Result type of a prompt.
///
/// A prompt can return these types:
///
/// - text, and each type of [content](crate::content): one message of the user
/// - [`Message`], for the role of the user or of the assistant
/// - tuples of up to eight of these, `Vec<Message>`, and arrays of [`Message`]: several messages
/// - [`WithMeta`], and a `Result` of any of these
///
/// ```
/// use mcp_runtime::prelude::*;
///
/// /// Reviews code.
/// #[prompt]
/// fn review(code: &str) -> (Message, Message) {
///     (
///         Message::user(format!("Review this code:\n{code}")),
///         Message::assistant("Here is my review:"),
///     )
/// }
/// # fn main() {}
/// ```
///
/// Specification: Server features, Prompts.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not something a prompt can return",
    label = "cannot become a prompt's messages",
    note = "a number or a type of your own becomes a `String` with `format!(\"{{}}\", …)`",
    note = "a prompt returns text (one user message), `Message::user(…)` and `Message::assistant(…)` singly, in tuples or in a `Vec`, or a `Result` of any of them"
)]
pub trait PromptReply: Sized {
    /// Adds the messages of this value to the result.
    #[doc(hidden)]
    fn messages(self, result: &mut PromptResult) -> Result<(), Error>;
}

/// Converts the return value of a prompt. Called by generated code.
pub fn prompt_reply<T: PromptReply>(value: T) -> OperationResult {
    let mut result = PromptResult::default();
    value.messages(&mut result).map(|()| Done::Prompt(result))
}

macro_rules! from_user {
    ($($ty:ty)*) => {$(
        #[diagnostic::do_not_recommend]
        impl PromptReply for $ty {
            fn messages(self, result: &mut PromptResult) -> Result<(), Error> {
                result.messages.push(Message::user(self));
                Ok(())
            }
        }
    )*};
}
from_user! { String &str Content Text Image Audio ResourceLink Embedded }

#[diagnostic::do_not_recommend]
impl PromptReply for Message {
    fn messages(self, result: &mut PromptResult) -> Result<(), Error> {
        result.messages.push(self);
        Ok(())
    }
}

#[diagnostic::do_not_recommend]
impl PromptReply for Vec<Message> {
    fn messages(mut self, result: &mut PromptResult) -> Result<(), Error> {
        result.messages.append(&mut self);
        Ok(())
    }
}

#[diagnostic::do_not_recommend]
impl<const N: usize> PromptReply for [Message; N] {
    fn messages(self, result: &mut PromptResult) -> Result<(), Error> {
        result.messages.extend(self);
        Ok(())
    }
}

impl<T: PromptReply, E: IntoFailure> PromptReply for Result<T, E> {
    fn messages(self, result: &mut PromptResult) -> Result<(), Error> {
        self.map_err(E::into_failure)?.messages(result)
    }
}

impl<T: PromptReply> PromptReply for WithMeta<T> {
    fn messages(self, result: &mut PromptResult) -> Result<(), Error> {
        result.meta = Some(self.1);
        self.0.messages(result)
    }
}

macro_rules! tuples {
    ($(($($name:ident)*))*) => {$(
        #[diagnostic::do_not_recommend]
        impl<$($name: PromptReply),*> PromptReply for ($($name,)*) {
            #[allow(non_snake_case, reason = "each value is named like its type parameter")]
            fn messages(self, result: &mut PromptResult) -> Result<(), Error> {
                let ($($name,)*) = self;
                $($name.messages(result)?;)*
                Ok(())
            }
        }
    )*};
}
tuples! { (A) (A B) (A B C) (A B C D) (A B C D E) (A B C D E F) (A B C D E F G) (A B C D E F G H) }
