// axum
pub async fn mount() -> Result<(), mcp_runtime::ServeError> {
    let router = mcp_runtime::server!().into_router().await?; // mistake
    drop(router);
    Ok(())
}

fn main() {}
