use mcp_runtime::prelude::*;

fn main() {
    let _ = mcp_runtime::server!().items(items![add]);
}
