use mcp_runtime::prelude::*;

/// Shows the page.
#[tool(meta(ui = serde_json::json!({ "page": 1 })))]
fn show() {}

fn main() {}
