use mcp_runtime::prelude::*;
use std::sync::Arc;

fn main() {
    let _ = mcp_runtime::server!().setup(async || Ok::<_, Error>(Arc::new(1))).build();
}
