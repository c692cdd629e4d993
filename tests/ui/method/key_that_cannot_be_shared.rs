use mcp_runtime::prelude::*;

struct Notes;

#[server(title = "Notes")]
impl Notes {
    /// Counts.
    #[tool]
    fn count(&self) -> u8 {
        1
    }
}

fn main() {}
