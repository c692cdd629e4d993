use mcp_runtime::prelude::*;

#[form]
enum Size {
    #[arg(default)]
    Small,
    Large,
}

fn main() {}
