use mcp_runtime::prelude::*;

#[config]
struct Config(String);

fn main() {}
