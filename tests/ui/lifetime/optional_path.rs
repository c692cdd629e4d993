use mcp_runtime::prelude::*;

/// Counts the parts of a path.
#[tool]
fn parts(path: Option<&std::path::Path>) -> usize {
    path.map_or(0, |path| path.iter().count())
}

fn main() {}
