use mcp_runtime::prelude::*;

#[form]
struct Order {
    /// Names of the guests
    #[arg(default = vec![], len(1..=8), format = "email")]
    guests: Vec<String>, // mistake
}

fn main() {}
