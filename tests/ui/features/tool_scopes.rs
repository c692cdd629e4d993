// auth
use mcp_runtime::prelude::*;

pub fn tool() -> Tool {
    Tool::new("read").scopes(["files:read"]) // mistake
}

fn main() {}
