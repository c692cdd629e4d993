//! Difference between a file and its changed text.

use similar::TextDiff;

/// Returns the changed lines, each with three lines around it, in the unified form of `diff -u`. Returns an empty text if nothing has changed.
pub fn difference(path: &str, old: &str, new: &str) -> String {
    let diff = TextDiff::from_lines(old, new);
    diff.unified_diff().context_radius(3).header(path, path).to_string()
}
