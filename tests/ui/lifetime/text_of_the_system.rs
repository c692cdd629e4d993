use mcp_runtime::prelude::*;

/// Counts bytes.
#[tool]
fn count(name: &std::ffi::OsStr) -> usize {
    name.len()
}

fn main() {}
