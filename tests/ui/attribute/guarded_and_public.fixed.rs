use mcp_runtime::prelude::*;

/// All notes.
#[resource("notes://all", scopes("notes:read"), cache(ttl = "5m"))]
fn all() -> &'static str {
    "all"
}

fn main() {}
