use mcp_runtime_authorization_server::{AuthorizationServer, LoginRequest, User};

async fn login(request: LoginRequest) -> Result<User, String> {
    Ok(User::new(request.name()))
}

fn main() {
    let _ = mcp_runtime::server!().auth(AuthorizationServer::new(login)).build();
}
