use mcp_runtime::prelude::*;

#[config]
struct Config {
    #[config(default = "1")]
    retries: u8,
}

fn main() {}
