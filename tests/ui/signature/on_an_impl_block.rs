use mcp_runtime::prelude::*;

struct Notes;

#[tool]
impl Notes {
    fn add(&self) {}
}

fn main() {}
