struct Db;

fn main() {
    let _ = mcp_runtime::server!().setup(async || Db).build();
}
