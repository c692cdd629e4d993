use mcp_runtime::prelude::*;

const URI: &str = "app://settings";

/// The settings.
#[resource("app://settings")]
fn settings() -> String {
    String::new()
}

fn main() {}
