use mcp_runtime::prelude::*;

struct Notes;

#[handlers]
impl Notes {
    #[tool]
    fn add(&self) {}
}

fn main() {}
