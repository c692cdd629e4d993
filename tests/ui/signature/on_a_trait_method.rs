use mcp_runtime::prelude::*;

trait Greeter {
    /// Greets.
    #[tool]
    fn greet(&self) -> String;
}

fn main() {}
