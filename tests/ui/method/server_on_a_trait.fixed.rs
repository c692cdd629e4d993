use mcp_runtime::prelude::*;

struct Notes;

#[server]
impl Notes {
    /// Counts.
    #[tool]
    fn count(&self, #[arg(range(1..))] to: u32) -> u32 {
        to + 1
    }

    /// Counts on.
    #[tool]
    fn count_on(&self, #[arg(range(1..))] to: u32) -> u32 {
        to + 1
    }
}

fn main() {}
