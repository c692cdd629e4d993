use mcp_runtime::prelude::*;

/// The settings.
#[resource(concat!("app", "://settings"))]
fn settings() -> String {
    String::new()
}

fn main() {}
