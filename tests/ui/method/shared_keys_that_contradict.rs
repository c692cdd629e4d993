use mcp_runtime::prelude::*;

struct Notes;

#[handlers(read_only, destructive)]
impl Notes {
    /// Counts.
    #[tool]
    fn count(&self) -> u8 {
        1
    }

    /// Counts again.
    #[tool]
    fn recount(&self) -> u8 {
        1
    }
}

fn main() {}
