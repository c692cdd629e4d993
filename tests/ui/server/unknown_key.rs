fn main() {
    let _ = mcp_runtime::server!(instruction = "Ask first.").build();
}
