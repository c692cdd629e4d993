use mcp_runtime::prelude::*;

/// Reads the settings.
#[tool(mime_type = "text/plain")]
fn settings() -> &'static str {
    "debug"
}

fn main() {}
