use mcp_runtime::prelude::*;
use std::cell::Cell;

async fn pause(_: &Cell<u8>) {}

#[handlers]
impl Notes {
    /// Counts.
    #[tool]
    async fn count(&self) -> u8 {
        let cell = Cell::new(1);
        pause(&cell).await;
        1
    }
}

struct Notes;

fn main() {}
