use mcp_runtime::prelude::*;
use std::rc::Rc;

/// Counts.
#[tool(blocking)]
fn count(numbers: Vec<Rc<u8>>) -> usize {
    numbers.len()
}

fn main() {}
