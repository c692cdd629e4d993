use mcp_runtime::prelude::*;
use std::sync::RwLock;

struct Notes(RwLock<Vec<String>>);

#[handlers]
impl Notes {
    /// Counts.
    #[tool]
    fn count(&self) -> usize {
        0
    }
}

fn main() {}
