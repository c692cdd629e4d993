// http
pub async fn serve() -> Result<(), mcp_runtime::ServeError> {
    mcp_runtime::server!().serve_http("127.0.0.1:8000").await // mistake
}

fn main() {}
