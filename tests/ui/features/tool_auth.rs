// auth
use mcp_runtime::prelude::*;

pub fn tool() -> Tool {
    let read = Tool::new("read").title("Read");
    read.auth(|caller, access| access.kind() != "tool" || caller.principal() != "guest") // mistake
}

fn main() {}
