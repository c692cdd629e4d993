use mcp_runtime::prelude::*;

#[form]
struct Order {
    /// Names of the guests
    guests: String,
}

fn main() {}
