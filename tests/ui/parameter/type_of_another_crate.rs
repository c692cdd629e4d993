use mcp_runtime::prelude::*;
use serde::de::IgnoredAny;

/// Drops.
#[tool]
fn ignore(value: IgnoredAny) -> String {
    let _ = value;
    String::new()
}

fn main() {}
