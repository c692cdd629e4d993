use mcp_runtime::prelude::*;

#[data]
struct Sum {
    sum: i64,
}

/// Counts.
#[prompt]
fn count() -> String {
    format!("{}", Sum { sum: 1 }.sum)
}

fn main() {}
