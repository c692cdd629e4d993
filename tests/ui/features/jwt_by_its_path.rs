// auth
pub fn server(builder: mcp_runtime::Builder) -> mcp_runtime::Builder {
    builder.auth(mcp_runtime::auth::Jwt::new("https://login.example.com", "https://mcp.example.com")) // mistake
}

fn main() {}
