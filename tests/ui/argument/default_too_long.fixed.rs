use mcp_runtime::prelude::*;

/// Translates.
#[tool]
fn translate(text: &str, #[arg(default = "ger", len(..=3))] language: &str) -> String {
    format!("{language}: {text}")
}

fn main() {}
