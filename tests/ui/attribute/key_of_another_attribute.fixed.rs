use mcp_runtime::prelude::*;

/// Reads the settings.
#[tool]
fn settings() -> &'static str {
    "debug"
}

fn main() {}
