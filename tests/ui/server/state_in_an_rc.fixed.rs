use std::sync::Arc;

fn main() {
    let _ = mcp_runtime::server!().state(Arc::new(1)).build();
}
