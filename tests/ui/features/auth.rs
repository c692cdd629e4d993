// auth
pub fn server(builder: mcp_runtime::Builder) -> mcp_runtime::Builder {
    use mcp_runtime::auth::Jwt; // mistake
    builder.auth(Jwt::new("https://login.example.com", "https://api.example.com/mcp"))
}

fn main() {}
