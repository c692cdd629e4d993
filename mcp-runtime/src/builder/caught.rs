use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::unwind;

/// Runs what the user wrote, such as a default or a schema. Its panic becomes one of the problems, so that the others are heard of too.
///
/// # Errors
/// `panicked: `, and its words.
pub(super) fn caught<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    // What it leaves half done is not looked at again: the item is refused.
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
