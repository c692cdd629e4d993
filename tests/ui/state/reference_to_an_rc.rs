use mcp_runtime::prelude::*;
use std::rc::Rc;

/// Counts.
#[tool]
fn count(log: &Rc<Vec<String>>) -> usize {
    log.len()
}

fn main() {}
