use mcp_runtime::prelude::*;

/// Grades.
#[tool]
fn grade(work: &str, #[arg(default = "a", pattern = "^[A-F]$")] grade: &str) -> String {
    format!("{work}: {grade}")
}

fn main() {}
