use mcp_runtime::prelude::*;

struct Notes;

impl Notes {
    /// Counts.
    #[tool]
    fn count() -> usize {
        0
    }
}

fn main() {}
