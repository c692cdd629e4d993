use mcp_runtime::prelude::*;
use std::rc::Rc;

/// Greets.
#[tool]
fn greet(name: Rc<str>) -> String {
    name.to_string()
}

fn main() {}
