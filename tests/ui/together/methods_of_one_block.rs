use mcp_runtime::prelude::*;

struct Notes;

#[handlers]
impl Notes {
    /// Counts.
    #[tool(titel = "Count")] // mistake
    fn count(&self) -> u32 {
        0
    }

    /// Clears.
    #[tool]
    fn clear(&mut self) {} // mistake

    /// A note.
    #[resource("notes/{id}")] // mistake
    fn note(&self, id: String) -> String {
        id
    }
}

fn main() {}
