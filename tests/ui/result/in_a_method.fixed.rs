use mcp_runtime::prelude::*;

struct Notes;

#[handlers]
impl Notes {
    /// All notes.
    #[tool]
    async fn all(&self) -> Json<Vec<String>> {
        Json(Vec::new())
    }
}

fn main() {}
