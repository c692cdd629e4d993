use mcp_runtime::prelude::*;

/// Prints.
#[tool]
fn print<T: std::fmt::Display>(value: T) -> String {
    value.to_string()
}

fn main() {}
