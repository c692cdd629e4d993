use mcp_runtime::prelude::*;

trait Counting {
    fn count(&self) -> usize;
}

struct Notes;

#[handlers]
impl Counting for Notes {
    /// Counts.
    #[tool]
    fn count(&self) -> usize {
        0
    }
}

fn main() {}
