use mcp_runtime::prelude::*;

/// Shows a path.
#[tool]
fn show(path: std::path::PathBuf) -> String {
    path.display().to_string()
}

fn main() {}
