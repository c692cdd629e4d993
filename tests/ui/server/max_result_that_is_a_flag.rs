fn main() {
    let _ = mcp_runtime::server!().max_result(true).build();
}
