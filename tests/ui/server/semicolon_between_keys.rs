fn main() {
    let _ = mcp_runtime::server!(title = "A"; name = "b").build();
}
