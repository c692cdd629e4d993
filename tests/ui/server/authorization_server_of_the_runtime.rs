use mcp_runtime::AuthorizationServer; // mistake

pub fn stop(server: AuthorizationServer) {
    drop(server);
}

fn main() {}
