use mcp_runtime::prelude::*;

/// The settings.
#[resource(uri = "app://settings")]
fn settings() -> String {
    String::new()
}

fn main() {}
