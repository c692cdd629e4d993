use mcp_runtime::prelude::*;

/// Asks for a review.
#[prompt]
fn review(#[arg(len(..=3))] #[complete("go", "rust")] language: &str) -> String {
    format!("Review this {language} code.")
}

fn main() {}
