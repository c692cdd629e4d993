use mcp_runtime::prelude::*;

/// Greets.
#[prompt]
fn greet(region: &str) -> String {
    region.to_owned()
}

fn main() {}
