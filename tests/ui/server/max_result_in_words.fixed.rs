fn main() {
    let _ = mcp_runtime::server!(max_result = "1MB").build();
}
