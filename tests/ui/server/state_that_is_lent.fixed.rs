struct Db;

fn main() {
    let db = Db;
    let _ = mcp_runtime::server!().state(db).build();
}
