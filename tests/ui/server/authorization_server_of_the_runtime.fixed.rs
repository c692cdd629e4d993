use mcp_runtime_authorization_server::AuthorizationServer;

pub fn stop(server: AuthorizationServer) {
    drop(server);
}

fn main() {}
