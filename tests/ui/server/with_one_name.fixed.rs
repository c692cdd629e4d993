fn main() {
    let _ = mcp_runtime::server!(with = [my_tools]).build();
}
