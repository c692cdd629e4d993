use mcp_runtime::prelude::*;

struct Notes;

#[handlers]
trait Counting {
    /// Counts.
    #[tool]
    fn count(&self) -> u32;

    /// Counts on.
    #[tool]
    fn count_on(&self, #[arg(range(1..))] to: u32) -> u32 {
        to + 1
    }
}

fn main() {}
