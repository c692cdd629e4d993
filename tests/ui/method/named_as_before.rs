use mcp_runtime::prelude::*;

struct Notes;

#[server]
impl Notes {
    /// Counts.
    #[tool]
    fn count(&self) -> usize {
        0
    }
}

fn main() {}
