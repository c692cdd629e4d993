use mcp_runtime::prelude::*;
use std::sync::Arc;

struct Notes;

#[handlers]
impl Notes {
    /// Counts.
    #[tool]
    fn count(self: Arc<Self>) -> usize {
        0
    }
}

fn main() {}
