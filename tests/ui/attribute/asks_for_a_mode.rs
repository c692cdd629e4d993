use mcp_runtime::prelude::*;

/// Deploys.
#[tool(asks(elicitation.url))]
async fn deploy(version: &str) -> String {
    version.to_owned()
}

fn main() {}
