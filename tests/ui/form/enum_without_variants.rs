use mcp_runtime::prelude::*;

#[form]
enum Size {}

fn main() {}
