use mcp_runtime::prelude::*;

struct Notes;

#[handlers]
impl Notes {
    /// Counts.
    #[cfg_attr(unix, tool)]
    fn count(&self) {}
}

fn main() {}
