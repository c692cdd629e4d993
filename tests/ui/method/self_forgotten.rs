use mcp_runtime::prelude::*;

struct Notes(u32);

#[handlers]
impl Notes {
    /// Counts.
    #[tool]
    fn count() -> u32 {
        self.0
    }
}

fn main() {}
