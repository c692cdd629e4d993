// http
pub fn server() -> mcp_runtime::Builder {
    mcp_runtime::server!().allow_host("api.example.com") // mistake
}

fn main() {}
