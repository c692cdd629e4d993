use mcp_runtime::prelude::*;

const URI: &str = "app://settings";

/// The settings.
#[resource(URI)]
fn settings() -> String {
    String::new()
}

fn main() {}
