use mcp_runtime::prelude::*;

struct Notes;

#[handlers]
impl Notes {
    #[tool]
    fn count(&self) -> usize {
        0
    }
}

fn main() {}
