use mcp_runtime::prelude::*;

#[cfg(unix)]
#[form]
struct Order {
    name: String,
    user: String,
}

#[cfg(not(unix))]
#[form]
struct Order {
    name: String,
}

fn main() {}
