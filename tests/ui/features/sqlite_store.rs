// sqlite
use mcp_runtime::store::SqliteStore; // mistake

pub fn server() -> mcp_runtime::Builder {
    mcp_runtime::server!().store(SqliteStore::new("server.db"))
}

fn main() {}
