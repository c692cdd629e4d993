use mcp_runtime::prelude::*;

#[data]
struct Notes {
    count: u32,
}

#[handlers]
impl Notes {
    /// All notes.
    #[tool]
    fn all(&self) -> Json<Self> {
        Json(Self { count: self.count })
    }
}

fn main() {}
