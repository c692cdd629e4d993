use mcp_runtime::prelude::*;

#[config]
struct Config {
    #[config(secret)]
    api_key: Option<String>,
}

fn main() {}
