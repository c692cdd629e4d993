use mcp_runtime::prelude::*;

#[form]
struct Order {
    #[arg(range(1..))] // mistake
    seats: u8,
    #[arg(default)] // mistake
    name: String,
    #[arg(format = "date")] // mistake
    day: String,
}

fn main() {}
