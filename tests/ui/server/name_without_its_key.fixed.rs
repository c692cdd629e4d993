fn main() {
    let _ = mcp_runtime::server!(name = "shop").build();
}
