use mcp_runtime::prelude::*;

struct Notes;

#[handlers]
impl Notes {
    /// Adds a note.
    #[tool]
    fn add(&self, text: &str) -> bool {
        text.is_empty()
    }

    /// Adds two numbers.
    #[tool(name = "other")]
    fn sum(&self, a: i64, b: i64) -> i64 {
        a + b
    }
}

fn main() {}
