use mcp_runtime::prelude::*;

/// Cities.
#[completion(timeout = "1s")] // mistake
async fn cities(typed: &str) -> Vec<String> {
    vec![typed.to_owned()]
}

/// Writes.
#[prompt]
fn write(#[complete(cities)] city: &str) -> String {
    city.to_owned()
}

fn main() {}
