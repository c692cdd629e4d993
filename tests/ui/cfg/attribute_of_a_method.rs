use mcp_runtime::prelude::*;

struct Notes;

#[server]
impl Notes {
    /// Counts.
    #[cfg_attr(unix, tool)]
    fn count(&self) {}
}

fn main() {}
