use mcp_runtime::prelude::*;

#[form]
enum Size {
    Small,
    #[cfg(unix)]
    Large,
}

fn main() {}
