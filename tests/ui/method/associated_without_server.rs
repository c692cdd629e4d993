use mcp_runtime::prelude::*;

struct Notes;

impl Notes {
    /// Counts.
    #[tool]
    fn count(only: bool) -> usize {
        usize::from(only)
    }
}

fn main() {}
