fn main() {
    let _ = mcp_runtime::server!(title = "5").build();
}
