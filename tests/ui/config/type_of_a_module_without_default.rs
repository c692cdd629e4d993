use mcp_runtime::prelude::*;

mod paint {
    use mcp_runtime::prelude::*;

    #[data]
    pub enum Color {
        Red,
        Blue,
    }
}

#[config]
struct Config {
    /// Color of the page
    #[config(default)]
    page: paint::Color, // mistake
}

fn main() {}
