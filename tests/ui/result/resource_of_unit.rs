use mcp_runtime::prelude::*;

/// Counts.
#[resource("app://count")]
fn count() {}

fn main() {}
