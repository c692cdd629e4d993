use mcp_runtime::prelude::*;

/// Reviews code.
#[prompt(rate("10/s", burst = 20))]
fn review(code: &str) -> String {
    code.to_owned()
}

fn main() {}
