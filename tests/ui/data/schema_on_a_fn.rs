#[derive(mcp_runtime::prelude::Schema)]
fn point() -> f64 {
    0.5
}

fn main() {
    point();
}
