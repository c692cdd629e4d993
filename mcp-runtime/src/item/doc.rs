/// The text of doc comments without the margin that `///` leaves and without blank lines at its ends.
///
/// Only the ends are trimmed: this runs in const evaluation, which cannot build a new text.
pub const fn trim(text: &'static str) -> &'static str {
    text.trim_ascii()
}
