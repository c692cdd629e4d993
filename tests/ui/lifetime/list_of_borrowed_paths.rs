use mcp_runtime::prelude::*;

/// Counts the absolute paths.
#[tool]
fn absolute(paths: &[&std::path::Path]) -> usize {
    paths.iter().filter(|path| path.is_absolute()).count()
}

fn main() {}
