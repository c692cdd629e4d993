use mcp_runtime::prelude::*;

#[handlers]
struct Notes;

fn main() {}
