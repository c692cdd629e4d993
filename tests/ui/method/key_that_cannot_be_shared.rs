use mcp_runtime::prelude::*;

struct Notes;

#[handlers(title = "Notes")]
impl Notes {
    /// Counts.
    #[tool]
    fn count(&self) -> u8 {
        1
    }
}

fn main() {}
