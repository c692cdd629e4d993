fn main() {
    let _ = mcp_runtime::server!().store(mcp_runtime::store::MemoryStore::new()).build();
}
