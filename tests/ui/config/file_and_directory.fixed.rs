use mcp_runtime::prelude::*;

#[config]
struct Config {
    #[config(directory)]
    root: std::path::PathBuf,
}

fn main() {}
