use mcp_runtime::prelude::*;

/// The log.
#[resource("log://all", size = "1MB")]
fn log() -> String {
    String::new()
}

fn main() {}
