// http
pub async fn serve() -> Result<(), mcp_runtime::ServeError> {
    let server = mcp_runtime::server!().bind_http("127.0.0.1:0").await?; // mistake
    tell(&server.url());
    server.serve().await
}

fn tell(_: &str) {}

fn main() {}
