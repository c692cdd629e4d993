use mcp_runtime::prelude::*;

#[config]
struct Config {
    #[config(defualt = 5)]
    retries: u8,
}

fn main() {}
