use mcp_runtime::prelude::*;

/// The settings.
#[resource("app://settings")]
fn settings() -> String {
    String::new()
}

fn main() {}
