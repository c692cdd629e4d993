use mcp_runtime::prelude::*;
use std::rc::Rc;

struct Db;

async fn pause() {}

async fn open() -> Result<Db> {
    pause().await;
    let path = Rc::new("db");
    let _ = path;
    Ok(Db)
}

fn main() {
    let _ = mcp_runtime::server!().setup(open).build();
}
