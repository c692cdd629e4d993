use mcp_runtime::prelude::*;

#[form]
struct Order {
    prices: std::collections::BTreeMap<String, f64>,
}

fn main() {}
