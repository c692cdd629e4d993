use mcp_runtime::prelude::*;

/// The log.
#[resource("log://all", cache(public, ttl = "5m"))]
fn log() -> String {
    String::new()
}

fn main() {}
