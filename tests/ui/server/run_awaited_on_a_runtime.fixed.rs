async fn start() -> Result<(), mcp_runtime::ServeError> {
    mcp_runtime::server!().serve_stdio().await?;
    Ok(())
}

fn main() {
    drop(start());
}
