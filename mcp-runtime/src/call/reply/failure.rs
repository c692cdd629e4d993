use std::{any::Any, fmt::Display};

use crate::error::{Error, Unanswered};

/// The error half of a handler's `Result`: anything that implements [`Display`].
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

/// [`Error`] implements `Display` too, and a second impl for it would conflict with this one. It is recognized by its type instead, and so
/// is [`Unanswered`], which may hold an `Error`.
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
        // `anyhow` and similar crates print the whole chain of causes in the alternate form.
        slot.map_or_else(|| Error::msg(""), |it| Error::msg(format_args!("{it:#}")))
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
