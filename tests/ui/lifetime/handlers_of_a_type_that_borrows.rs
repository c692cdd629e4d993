use mcp_runtime::prelude::*;

struct Notes<'a>(&'a str);

#[handlers]
impl<'a> Notes<'a> {
    /// All notes.
    #[tool]
    fn all(&self) -> String {
        self.0.to_owned()
    }
}

fn main() {}
