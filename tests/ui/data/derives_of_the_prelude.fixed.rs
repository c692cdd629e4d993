use mcp_runtime::prelude::*;

#[data]
#[derive(
    Debug,
)]
#[serde(rename_all = "camelCase")]
struct Point {
    from_east: f64,
}

#[data]
struct Sum<T> {
    sum: T,
}

/// Moves.
#[tool]
fn go(to: Point) -> String {
    serialized(&Sum { sum: to.from_east })
}

fn serialized(value: &impl Serialize) -> String {
    let _ = value;
    String::new()
}

fn main() {}
