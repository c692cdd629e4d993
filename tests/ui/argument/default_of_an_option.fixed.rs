use mcp_runtime::prelude::*;

/// Works.
#[tool]
fn work(#[arg(default = Some(5))] value: Option<u8>) {
    let _ = value;
}

fn main() {}
