use mcp_runtime::prelude::*;

mod size {
    #[derive(Debug)]
    pub struct Size;
}

impl std::str::FromStr for size::Size {
    type Err = String;

    fn from_str(_: &str) -> Result<Self, String> {
        Ok(Self)
    }
}

#[config]
#[derive(Debug)]
struct Config {
    /// Key of the service
    #[config(secret)]
    key: String,
    /// Size of a page
    page: size::Size,
}

fn main() {}
