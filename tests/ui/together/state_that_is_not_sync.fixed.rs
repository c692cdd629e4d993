use mcp_runtime::prelude::*;
use std::sync::RwLock;

struct Notes {
    list: RwLock<Vec<String>>,
}

/// Shows the notes.
#[tool]
fn show(notes: &Notes) -> String {
    format!("{:?}", notes.list)
}

fn main() -> Exit {
    server!().state(Notes { list: RwLock::default() }).run()
}
