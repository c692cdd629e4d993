// state-key
pub fn server() -> mcp_runtime::Builder {
    mcp_runtime::server!().state_key([7; 32]) // mistake
}

fn main() {}
