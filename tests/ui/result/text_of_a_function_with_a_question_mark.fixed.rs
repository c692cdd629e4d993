use mcp_runtime::prelude::*;

fn half(number: u32) -> Result<u32, String> {
    if number % 2 == 0 { Ok(number / 2) } else { Err(format!("{number} is odd")) }
}

/// Returns the half of a number, plus 1.
#[tool]
fn middle(number: u32) -> Result<u32> {
    Ok(half(number).map_err(Error::msg)? + 1)
}

fn main() {}
