use mcp_runtime::prelude::*;

/// Moves.
#[tool]
fn go(#[arg(header = "Region")] from: &str, #[arg(header = "other")] to: &str) -> String {
    format!("{from} {to}")
}

fn main() {}
