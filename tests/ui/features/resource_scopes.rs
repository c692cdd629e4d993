// auth
use mcp_runtime::prelude::*;

pub fn resource() -> Resource {
    Resource::new("files://all", "all").scopes(vec!["files:read".to_owned()]) // mistake
}

fn main() {}
