use mcp_runtime::prelude::*;

/// Searches.
#[tool(schema = "static")]
fn search(text: &str, #[arg(default = 5 * 4)] most: u32) -> String {
    text.chars().take(most as usize).collect()
}

fn main() {}
