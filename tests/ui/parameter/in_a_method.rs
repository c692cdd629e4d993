use mcp_runtime::prelude::*;

struct Notes;
struct Note;

#[handlers]
impl Notes {
    /// Writes a note down.
    #[tool]
    async fn add(&self, note: Note) -> bool {
        let _ = note;
        true
    }
}

fn main() {}
