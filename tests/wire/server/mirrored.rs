//! Tools whose arguments are repeated in headers.

use mcp_runtime::prelude::*;

/// Says where a booking goes.
#[tool]
pub fn route(
    #[arg(header = "Region")] region: Option<String>,
    #[arg(header = "Guests")] guests: Option<i64>,
    #[arg(header = "Outside")] outside: Option<bool>,
    note: Option<String>,
) -> String {
    format!("{region:?} {guests:?} {outside:?} {note:?}")
}

/// Cannot do without a model.
#[tool(asks(sampling))]
fn summarize(#[arg(header = "Region")] region: Option<String>) -> String {
    format!("{region:?}")
}
