use mcp_runtime::prelude::*;

/// Greets.
#[prompt]
fn greet(#[arg(header = "Region")] region: &str) -> String {
    region.to_owned()
}

fn main() {}
