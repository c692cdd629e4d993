use mcp_runtime::prelude::*;
use std::cell::RefCell;

/// Counts.
#[tool]
fn count(log: State<RefCell<Vec<String>>>) -> String {
    format!("{:?}", *log)
}

fn main() {}
