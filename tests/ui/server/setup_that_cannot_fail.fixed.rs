struct Db;

fn main() {
    let _ = mcp_runtime::server!().setup(async || Ok::<_, mcp_runtime::Error>(Db)).build();
}
