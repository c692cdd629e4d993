use mcp_runtime::prelude::*;

struct Notes;

#[handlers]
impl Notes {
    #[tool]
    fn other(&self) {}
}

fn main() {}
