use mcp_runtime::prelude::*;

struct Notes;

#[handlers]
impl Notes {
    /// Counts.
    #[tool(title = "Notes")]
    fn count(&self) -> u8 {
        1
    }
}

fn main() {}
