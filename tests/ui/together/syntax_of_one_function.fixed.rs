use mcp_runtime::prelude::*;

/// Rolls dice.
#[tool(title = "Dice")] // mistake
fn roll(
    #[arg(range(1..))] count: u32, // mistake
    name: (u32, u32),             // mistake
) -> u32 {
    let (sides, add) = name;
    count * sides + add
}

fn main() {}
