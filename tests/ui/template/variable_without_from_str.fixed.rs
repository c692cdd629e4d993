use mcp_runtime::prelude::*;

struct Id(String);

impl std::str::FromStr for Id {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Ok(Id(text.to_string()))
    }
}

/// A user.
#[resource("users://{id}")]
fn user(id: Id) -> String {
    id.0.to_string()
}

fn main() {}
