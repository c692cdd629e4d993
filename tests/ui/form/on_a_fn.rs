use mcp_runtime::prelude::*;

#[form]
fn order() -> String {
    String::new()
}

fn main() {}
