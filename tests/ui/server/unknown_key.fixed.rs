fn main() {
    let _ = mcp_runtime::server!(instructions = "Ask first.").build();
}
