// http
pub async fn mount() -> Result<(), mcp_runtime::ServeError> {
    let service = mcp_runtime::server!().into_service().await?; // mistake
    service.stop();
    Ok(())
}

fn main() {}
