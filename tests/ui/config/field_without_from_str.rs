use mcp_runtime::prelude::*;

struct Size(u32);

#[config]
struct Config {
    /// Size of a page
    page: Size,
}

fn main() {}
