use mcp_runtime::prelude::*;

#[form(enum_names)]
enum Size {
    #[arg(title = "Small")]
    Small,
    Large,
}

fn main() {}
