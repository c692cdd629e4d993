use mcp_runtime::prelude::*;

/// The log.
#[resource("log://all", priority = 1)]
fn log() -> String {
    String::new()
}

fn main() {}
