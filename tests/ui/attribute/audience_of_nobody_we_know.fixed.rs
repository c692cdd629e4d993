use mcp_runtime::prelude::*;

/// The log.
#[resource("log://all", audience(assistant))]
fn log() -> String {
    String::new()
}

fn main() {}
