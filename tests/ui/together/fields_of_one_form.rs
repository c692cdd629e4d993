use mcp_runtime::prelude::*;

#[form]
struct Order {
    #[arg(minimum = 1)] // mistake
    seats: u8,
    #[serde(default)] // mistake
    name: String,
    #[arg(formt = "date")] // mistake
    day: String,
}

fn main() {}
