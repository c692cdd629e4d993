use mcp_runtime::prelude::*;

/// Paints.
#[tool]
fn paint(#[arg(example = "red")] color: &str) -> String {
    color.to_owned()
}

fn main() {}
