use mcp_runtime::prelude::*;

struct Notes;

#[handlers]
impl Notes {
    /// Counts.
    #[tool(title = "Count")] // mistake
    fn count(&self) -> u32 {
        0
    }

    /// Clears.
    #[tool]
    fn clear(&self) {} // mistake

    /// A note.
    #[resource("users://notes/{id}")] // mistake
    fn note(&self, id: String) -> String {
        id
    }
}

fn main() {}
