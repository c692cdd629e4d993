use mcp_runtime::prelude::*;

/// Asks about a path.
#[prompt]
fn explain(path: std::path::PathBuf) -> String {
    format!("What is in {}?", path.display())
}

fn main() {}
