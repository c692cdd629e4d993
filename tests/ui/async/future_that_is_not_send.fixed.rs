use mcp_runtime::prelude::*;
use std::sync::RwLock;

async fn pause(_: &RwLock<u8>) {}

#[handlers]
impl Notes {
    /// Counts.
    #[tool]
    async fn count(&self) -> u8 {
        let cell = RwLock::new(1);
        pause(&cell).await;
        1
    }
}

struct Notes;

fn main() {}
