fn main() {
    let _ = mcp_runtime::server!("shop").build();
}
