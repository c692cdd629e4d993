use mcp_runtime::prelude::*;

/// Rolls dice.
#[tool(titel = "Dice")] // mistake
fn roll(
    #[arg(rang(1..))] count: u32, // mistake
    (sides, add): (u32, u32),     // mistake
) -> u32 {
    count * sides + add
}

fn main() {}
