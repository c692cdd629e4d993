//! Rules about tools whose calls run as tasks.

use super::{Item, Problem};
use crate::catalog::Entry;

/// Finds tools that run only as tasks. A client without tasks lists such a tool, but the server rejects its calls.
pub(super) fn required(tool: &Item<'_>) -> Vec<Problem> {
    if !tool.entry.and_then(Entry::task).is_some_and(|it| it.required) {
        return Vec::new();
    }
    let what = "it runs as a task only: clients without tasks list it and cannot call it";
    vec![Problem::new(what, "`task` without `required`, so that those clients wait for the result")]
}
