use mcp_runtime::prelude::*;

struct Notes;

#[handlers(open_world = false)]
impl Notes {
    /// Counts.
    #[tool]
    fn count(&self) -> u8 {
        1
    }
}

fn main() {}
