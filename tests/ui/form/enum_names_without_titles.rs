use mcp_runtime::prelude::*;

#[form(enum_names)]
enum Size {
    Small,
    Large,
}

fn main() {}
