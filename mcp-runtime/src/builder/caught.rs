use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::unwind;

/// Runs code of the user, such as a default or a schema. A panic becomes one of the problems, so that the other problems are reported too.
///
/// # Errors
/// Fails if the code panicked. The text is `panicked: ` with the message of the panic.
pub(super) fn caught<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    // Values that the panic left half done are not used again, because the item is rejected.
    catch_unwind(AssertUnwindSafe(run)).map_err(|payload| {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let problem = match text.or_else(|| payload.downcast_ref::<&str>().copied()) {
            Some(words) => format!("panicked: {words}"),
            None => "panicked".to_owned(),
        };
        unwind::discard(payload);
        problem
    })
}
