// auth
use mcp_runtime::auth::StaticTokens; // mistake

pub fn tokens() -> StaticTokens {
    StaticTokens::new().token("ada-secret", "ada")
}

fn main() {}
