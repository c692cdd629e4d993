use mcp_runtime::prelude::*;

/// The log.
#[resource("log://all", priority = 10)]
fn log() -> String {
    String::new()
}

fn main() {}
