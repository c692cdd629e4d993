use mcp_runtime::prelude::*;
use std::rc::Rc;

/// Counts.
#[tool]
fn count(log: State<Rc<Vec<String>>>) -> usize {
    log.len()
}

fn main() {}
