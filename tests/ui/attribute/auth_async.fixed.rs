use mcp_runtime::{auth::{Access, Authorization}, prelude::*};

fn may_write(caller: &Authorization, _: &Access<'_>) -> bool {
    caller.has_scope("notes:write")
}

/// Forgets all.
#[tool(auth(may_write))]
fn clear() {}

fn main() {}
