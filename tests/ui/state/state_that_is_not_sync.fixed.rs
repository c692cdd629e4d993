use mcp_runtime::prelude::*;
use std::sync::RwLock;

/// Counts.
#[tool]
fn count(log: State<RwLock<Vec<String>>>) -> String {
    format!("{:?}", *log)
}

fn main() {}
