use mcp_runtime::prelude::*;

#[data]
struct Die;

#[data]
struct Table;

/// Rolls dice.
#[tool]
fn roll(
    die: Die,     // mistake
    table: Table, // mistake
) -> Json<Vec<u32>> // mistake
{
    let _ = (die, table);
    Json(vec![])
}

fn main() {}
