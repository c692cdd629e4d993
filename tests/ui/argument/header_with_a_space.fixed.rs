use mcp_runtime::prelude::*;

/// Greets.
#[tool]
fn greet(#[arg(header = "X-Region")] region: &str) -> String {
    region.to_owned()
}

fn main() {}
