use mcp_runtime::prelude::*;

/// Shows the page.
#[tool(meta(ui = { "page": 1 }))]
fn show() {}

fn main() {}
