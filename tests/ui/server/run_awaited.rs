#[allow(clippy::unused_async)]
async fn start() -> mcp_runtime::Exit {
    mcp_runtime::server!().run().await
}

fn main() {
    let _ = start();
}
