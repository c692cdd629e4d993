use mcp_runtime::prelude::*;

struct Db;

async fn open() -> Result<Db> {
    Ok(Db)
}

fn main() {
    let _ = mcp_runtime::server!().setup(open).build();
}
