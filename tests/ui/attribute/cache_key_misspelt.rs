use mcp_runtime::prelude::*;

/// The log.
#[resource("log://all", cache(public, tll = "5m"))]
fn log() -> String {
    String::new()
}

fn main() {}
