use mcp_runtime::prelude::*;

#[config]
struct Config {
    #[config(secret, default = "hunter2")]
    api_key: String,
}

fn main() {}
