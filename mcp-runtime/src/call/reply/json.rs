use std::ops::Deref;

/// A value that is sent as JSON.
///
/// A tool sends it as structured content with an output schema, and the same JSON as text for clients that know no structured content. A
/// resource sends it as `application/json`.
///
/// Before protocol revision 2026-07-28, clients accept only objects as structured content. They get any other JSON as text alone.
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
