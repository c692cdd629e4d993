use mcp_runtime::prelude::*;

#[data]
enum Color {
    Red,
    Green,
}

/// Paints.
#[tool]
fn paint(#[arg(default = Color::Red)] color: Color) -> &'static str {
    match color {
        Color::Red => "red",
        Color::Green => "green",
    }
}

fn main() {}
