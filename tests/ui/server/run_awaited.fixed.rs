#[allow(clippy::unused_async)]
async fn start() -> mcp_runtime::Exit {
    mcp_runtime::server!().run()
}

fn main() {
    drop(start());
}
