use mcp_runtime::prelude::*;

#[cfg(unix)]
#[form]
enum Size {
    Small,
    Large,
}

#[cfg(not(unix))]
#[form]
enum Size {
    Small,
}

fn main() {}
