use mcp_runtime::prelude::*;

/// The settings.
#[resource]
fn settings() -> String {
    String::new()
}

fn main() {}
