use mcp_runtime::prelude::*;

/// Deploys.
#[tool(asks(sampling, elicitation))]
async fn deploy(version: &str) -> String {
    version.to_owned()
}

fn main() {}
