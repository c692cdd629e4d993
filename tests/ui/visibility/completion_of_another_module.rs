use mcp_runtime::prelude::*;

mod cities {
    use mcp_runtime::prelude::*;

    /// Cities.
    #[completion]
    fn all(typed: &str) -> Vec<String> {
        vec![typed.to_owned()]
    }
}

/// Writes.
#[prompt]
fn write(#[complete(cities::all)] city: &str) -> String {
    city.to_owned()
}

fn main() {}
