async fn start() -> Result<(), mcp_runtime::ServeError> {
    mcp_runtime::server!().run().await?;
    Ok(())
}

fn main() {
    drop(start());
}
