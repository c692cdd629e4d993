use mcp_runtime::prelude::*;

struct Notes;

#[handlers]
impl Notes {
    /// All notes.
    #[tool]
    async fn all(&self) -> Vec<String> {
        Vec::new()
    }
}

fn main() {}
