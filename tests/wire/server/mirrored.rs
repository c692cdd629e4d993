//! Tools whose arguments are also sent in HTTP headers.

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

/// Requires a client that supports sampling.
#[tool(asks(sampling))]
fn summarize(#[arg(header = "Region")] region: Option<String>) -> String {
    format!("{region:?}")
}
