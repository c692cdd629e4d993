fn main() {
    let _ = mcp_runtime::server!(max_result = "1 megabyte").build();
}
