use mcp_runtime::prelude::*;

#[config]
struct Config {
    #[config(file, directory)]
    root: std::path::PathBuf,
}

fn main() {}
