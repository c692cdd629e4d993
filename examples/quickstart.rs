//! The smallest server that has one of everything.

use mcp_runtime::prelude::*;

/// Adds two numbers.
#[tool(read_only, idempotent)]
fn add(
    /// First addend
    a: i64,
    /// Second addend
    b: i64,
) -> i64 {
    a + b
}

/// Counts down, reporting each step.
#[tool]
async fn countdown(
    /// How many steps
    #[arg(range(1..=100))]
    steps: u32,
    progress: Progress,
) -> String {
    for _ in progress.over(0..steps) {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    format!("{steps} steps done")
}

/// A user's profile.
#[resource("users://{id}/profile")]
fn profile(id: u64) -> String {
    format!("User {id}")
}

/// Reviews code.
#[prompt]
fn review(#[complete("rust", "python", "go")] language: &str, code: &str) -> String {
    format!("Review this {language} code:\n{code}")
}

fn main() -> mcp_runtime::Exit {
    mcp_runtime::server!().run()
}
