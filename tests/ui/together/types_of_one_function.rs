use mcp_runtime::prelude::*;

struct Die;

struct Table;

/// Rolls dice.
#[tool]
fn roll(
    die: Die,     // mistake
    table: Table, // mistake
) -> Vec<u32> // mistake
{
    let _ = (die, table);
    vec![]
}

fn main() {}
