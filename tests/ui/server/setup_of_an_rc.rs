use mcp_runtime::prelude::*;
use std::rc::Rc;

fn main() {
    let _ = mcp_runtime::server!().setup(async || Ok::<_, Error>(Rc::new(1))).build();
}
