use mcp_runtime::prelude::*;

#[data]
enum Size {
    Small,
    Other,
}

#[config]
struct Config {
    /// Size of a page
    page: Size,
}

fn main() {}
