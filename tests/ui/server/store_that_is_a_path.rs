fn main() {
    let _ = mcp_runtime::server!().store("server.db").build();
}
