use mcp_runtime::prelude::*;

#[data]
struct Notes {
    count: u32,
}

#[server]
impl Notes {
    /// All notes.
    #[tool]
    fn all(&self) -> Self {
        Self { count: self.count }
    }
}

fn main() {}
