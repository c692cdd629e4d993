use mcp_runtime::prelude::*;

#[data]
enum Size {
    Small,
    Other(u32),
}

#[config]
struct Config {
    /// Size of a page
    page: Size,
}

fn main() {}
