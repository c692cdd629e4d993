use mcp_runtime::prelude::*;

struct Notes;

#[handlers]
impl Notes {
    /// All notes.
    #[resource("notes://all")]
    fn all(&self) -> &'static str {
        ""
    }

    /// All notes, the newest first.
    #[resource("notes://other")]
    fn newest(&self) -> &'static str {
        ""
    }
}

fn main() {}
