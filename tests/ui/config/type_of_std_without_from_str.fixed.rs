use mcp_runtime::prelude::*;

#[config]
struct Config {
    /// Log of the server
    log: String,
}

fn main() {}
