use mcp_runtime::prelude::*;

/// Cities.
#[completion(scopes("cities:read"))]
fn cities() -> Vec<String> {
    Vec::new()
}

fn main() {}
