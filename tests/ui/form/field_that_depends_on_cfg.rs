use mcp_runtime::prelude::*;

#[form]
struct Order {
    name: String,
    #[cfg(unix)]
    user: String,
}

fn main() {}
