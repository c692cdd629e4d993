use mcp_runtime::prelude::*;
use std::sync::Arc;

struct Notes {
    all: Arc<Vec<String>>,
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
