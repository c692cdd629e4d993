fn main() {
    let _ = mcp_runtime::server!().task_store(mcp_runtime::tasks::MemoryTasks::new()).build();
}
