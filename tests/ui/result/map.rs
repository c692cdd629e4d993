use mcp_runtime::prelude::*;
use std::collections::HashMap;

/// Lists.
#[tool]
fn list() -> HashMap<String, u32> {
    HashMap::new()
}

fn main() {}
