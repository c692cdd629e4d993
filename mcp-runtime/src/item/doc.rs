/// Returns the text of doc comments without the whitespace at its ends: the margin that `///` leaves, and blank lines.
///
/// The margin of inner lines stays: this runs in const evaluation, which cannot build a new text.
pub const fn trim(text: &'static str) -> &'static str {
    text.trim_ascii()
}
