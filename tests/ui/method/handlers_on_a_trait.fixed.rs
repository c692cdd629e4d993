use mcp_runtime::prelude::*;

struct Notes;

trait Counting {
    /// Counts.
    fn count(&self) -> u32;
}

#[handlers]
impl Notes {
    /// Counts on.
    #[tool]
    fn count_on(&self, #[arg(range(1..))] to: u32) -> u32 {
        to + 1
    }
}

fn main() {}
