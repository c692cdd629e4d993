fn main() {
    let _ = mcp_runtime::server!().task_store("tasks.db").build();
}
