use mcp_runtime::prelude::*;

struct Notes(u32);

#[handlers]
impl Notes {
    /// Counts.
    #[tool]
    fn count(self: &mut Self) -> u32 {
        self.0
    }
}

fn main() {}
