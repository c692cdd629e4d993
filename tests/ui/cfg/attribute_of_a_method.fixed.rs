use mcp_runtime::prelude::*;

struct Notes;

#[handlers]
impl Notes {
    /// Counts.
    #[cfg(unix)]
    #[tool]
    fn count(&self) {}
}

fn main() {}
