use mcp_runtime::prelude::*;
use std::cell::RefCell;

struct Notes(RefCell<Vec<String>>);

#[handlers]
impl Notes {
    /// Counts.
    #[tool]
    fn count(&self) -> usize {
        0
    }
}

fn main() {}
