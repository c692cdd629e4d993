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
    #[config(default = paint::Color::Red)]
    page: paint::Color,
}

fn main() {}
