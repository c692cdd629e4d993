use mcp_runtime::prelude::*;

/// Asks for a review.
#[prompt]
fn review(#[arg(range(1..=5))] #[complete("1", "5")] depth: u8) -> String {
    format!("Review it {depth} times.")
}

fn main() {}
