use mcp_runtime::prelude::*;

#[config]
struct Config {
    /// Log of the server
    log: std::fs::File, // mistake
}

fn main() {}
