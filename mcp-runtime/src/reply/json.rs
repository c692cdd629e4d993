use std::ops::Deref;

/// A value that goes out as JSON: structured content with an output schema from a tool (and the same JSON as
/// text, for clients that know no structured content), `application/json` from a resource.
///
/// Clients before 2026-07-28 take only objects as structured content; to them any other JSON goes out as text alone.
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
