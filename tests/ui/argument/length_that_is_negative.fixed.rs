use mcp_runtime::prelude::*;

/// Greets.
#[tool]
fn greet(#[arg(len(0..))] name: &str) -> String {
    name.to_owned()
}

fn main() {}
