use mcp_runtime::prelude::*;

struct Name<'a>(&'a str);

/// Greets.
#[tool]
fn greet(name: &Name<'a>) -> String {
    name.0.to_owned()
}

fn main() {}
