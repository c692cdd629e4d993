//! Return types that tools, prompts and resources share: [`Json`], [`WithMeta`] and the errors of handlers.

use std::{any::Any, fmt::Display, ops::Deref};

use crate::{
    error::{Error, Unanswered},
    model::Meta,
};

/// Value sent as JSON: the result of a tool or a resource.
///
/// A tool sends the value as structured content, and publishes an output schema. It also sends the same JSON as text, for clients without
/// support for structured content. The type must implement `Serialize` and `JsonSchema`, for example through `#[data]`. A resource sends
/// the value as `application/json`, which needs `Serialize` only.
///
/// Before protocol revision 2026-07-28, clients accept only objects as structured content, so they get any other value only as text.
///
/// To send another text in place of the JSON, use [`with_text`](Self::with_text). To send a value as text without a schema, return a
/// `String`.
///
/// Specification: Server features, Tools (structured content).
///
/// ```
/// use mcp_runtime::prelude::*;
///
/// #[data]
/// struct Sum {
///     /// The sum
///     sum: i64,
/// }
///
/// /// Adds two numbers.
/// #[tool]
/// fn add(a: i64, b: i64) -> Json<Sum> {
///     Json(Sum { sum: a + b })
/// }
/// # fn main() {}
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Json<T>(pub T);

impl<T> Deref for Json<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> Json<T> {
    /// Sends `text` in place of the JSON text, beside the structured content.
    ///
    /// Models often get both forms of a result, so a short text in place of a large value saves tokens. Clients without support for
    /// structured content, and all clients before protocol revision 2025-06-18, see only the text. Before 2026-07-28, that also holds for a
    /// value that is not an object.
    ///
    /// ```
    /// use mcp_runtime::prelude::*;
    ///
    /// #[data]
    /// struct Rows {
    ///     rows: Vec<String>,
    /// }
    ///
    /// /// Finds rows, for the table in the window.
    /// #[tool]
    /// fn find() -> WithText<Json<Rows>> {
    ///     let found = Rows { rows: vec!["a".to_owned(), "b".to_owned()] };
    ///     let text = format!("The table shows {} rows.", found.rows.len());
    ///     Json(found).with_text(text)
    /// }
    /// # fn main() {}
    /// ```
    pub fn with_text(self, text: impl Into<String>) -> WithText<Self> {
        WithText(self, text.into())
    }
}

/// Structured content of a tool with a text of its own, in place of the JSON text.
///
/// The first field is a [`Json`], whose method [`with_text`](Json::with_text) makes this type. Several texts, images or links are the other
/// parts of a tuple, such as `(WithText<Json<T>>, Image)`.
///
/// Specification: Server features, Tools (structured content).
///
/// ```
/// use mcp_runtime::prelude::*;
///
/// /// Counts the words.
/// #[tool]
/// fn count(text: &str) -> WithText<Json<usize>> {
///     let count = text.split_whitespace().count();
///     WithText(Json(count), format!("The text has {count} words."))
/// }
/// # fn main() {}
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WithText<T>(pub T, pub String);

/// Result with a `_meta` object. On content it is sent since protocol revision 2025-06-18, and on results in every revision.
///
/// The first field is any result type of a tool, prompt or resource. On a resource the `_meta` is added to each of its contents that has
/// none of its own.
///
/// Specification: Base protocol, Overview (`_meta`).
///
/// ```
/// use mcp_runtime::prelude::*;
///
/// /// Answers a question, and reports the cost in `_meta`.
/// #[tool]
/// fn ask() -> WithMeta<&'static str> {
///     WithMeta("42", Meta::new().with("example.com/cost", 3))
/// }
/// # fn main() {}
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct WithMeta<T>(pub T, pub Meta);

/// Error type of a handler's `Result`: any `'static` type that implements [`Display`].
///
/// An [`Error`] keeps its kind. Any other error becomes a failure whose message is the error's alternate form (`{:#}`). In this form
/// `anyhow` prints the whole chain of causes. The client can read the message, and so can its model. Use [`Error::internal`] for errors
/// that only you should see.
///
/// ```
/// use mcp_runtime::prelude::*;
///
/// /// Divides two numbers.
/// #[tool]
/// fn divide(a: i64, b: i64) -> Result<i64, String> {
///     a.checked_div(b).ok_or_else(|| format!("cannot divide {a} by {b}"))
/// }
/// # fn main() {}
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the error of a handler",
    label = "does not implement `Display`",
    note = "use `mcp_runtime::Result<T>`, `anyhow::Result<T>` or `Result<T, String>`",
    note = "or implement `Display` for your error: `impl std::fmt::Display for {Self} {{ fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {{ f.write_str(\"…\") }} }}`"
)]
pub trait IntoFailure {
    /// Converts the error into the failure that the client sees.
    fn into_failure(self) -> Error;
}

/// [`Error`] also implements `Display`, so an impl of its own would conflict with this one. This impl therefore recognizes [`Error`] by its
/// type, and also [`Unanswered`], which may contain an `Error`.
#[diagnostic::do_not_recommend]
impl<E: Display + 'static> IntoFailure for E {
    fn into_failure(self) -> Error {
        let mut slot = Some(self);
        let any = &mut slot as &mut dyn Any;
        if let Some(error) = any.downcast_mut::<Option<Error>>().and_then(Option::take) {
            return error;
        }
        if let Some(unanswered) = any.downcast_mut::<Option<Unanswered>>().and_then(Option::take) {
            return unanswered.into();
        }
        slot.map_or_else(|| Error::msg(""), Error::msg)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn our_error_keeps_its_kind_and_others_are_failures() {
        assert_eq!(Error::invalid_params("x").into_failure().kind(), ErrorKind::InvalidParams);
        let unanswered = Unanswered::Failed(Error::invalid_params("x"));
        assert_eq!(unanswered.into_failure().kind(), ErrorKind::InvalidParams);
        assert_eq!(Error::from(Unanswered::Declined).kind(), ErrorKind::Failed);
        assert_eq!("x".into_failure().kind(), ErrorKind::Failed);
        assert_eq!(std::fmt::Error.into_failure().message(), std::fmt::Error.to_string());
    }
}
