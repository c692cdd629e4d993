// sqlite
use mcp_runtime::tasks::SqliteStore; // mistake

pub fn server() -> mcp_runtime::Builder {
    mcp_runtime::server!().task_store(SqliteStore::new("tasks.db"))
}

fn main() {}
