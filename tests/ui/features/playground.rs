// playground
pub fn server() -> mcp_runtime::Builder {
    mcp_runtime::server!().playground(true) // mistake
}

fn main() {}
