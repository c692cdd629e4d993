use std::sync::RwLock;

fn main() {
    let _ = mcp_runtime::server!().state(RwLock::new(1)).build();
}
