// sqlite
use mcp_runtime::SqliteTasks; // mistake

pub fn server() -> mcp_runtime::Builder {
    mcp_runtime::server!().task_store(SqliteTasks::new("tasks.db"))
}

fn main() {}
