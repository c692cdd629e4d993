use mcp_runtime::prelude::*;
use std::cell::RefCell;

struct Notes {
    list: RefCell<Vec<String>>,
}

/// Shows the notes.
#[tool]
fn show(notes: &Notes) -> String { // mistake
    format!("{:?}", notes.list)
}

fn main() -> Exit {
    server!().state(Notes { list: RefCell::default() }).run() // mistake
}
