use mcp_runtime::prelude::*;

/// The log.
#[resource("log://all", audience(model))]
fn log() -> String {
    String::new()
}

fn main() {}
