use mcp_runtime::prelude::*;

/// Reviews code.
#[prompt(rate("10/s", bursts = 20))]
fn review(code: &str) -> String {
    code.to_owned()
}

fn main() {}
