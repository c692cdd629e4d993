//! The smallest server that has one of everything.

use mcp_runtime::prelude::*;

/// Adds two numbers.
#[tool(read_only, idempotent)]
async fn add(
    /// First addend
    a: i64,
    /// Second addend
    b: i64,
    /// Number to add on top
    top: i64,
    progress: Progress,
) -> i64 {
    progress.over([a, b, top]).sum()
}

/// A user's profile.
#[resource("users://{id}/profile")]
fn profile(id: u64) -> String {
    format!("User {id}")
}

/// Reviews code.
#[prompt]
fn review(
    #[complete("rust", "python", "go")] language: &str,
    /// Code to review
    code: &str,
) -> String {
    format!("Review this {language} code:\n{code}")
}

fn main() -> Exit {
    server!().run()
}
