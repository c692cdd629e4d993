use mcp_runtime::prelude::*;
use std::rc::Rc;

struct Notes {
    all: Rc<Vec<String>>,
}

#[handlers]
impl Notes {
    /// Counts.
    #[tool]
    fn count(&self) -> usize {
        self.all.len()
    }
}

fn main() {}
