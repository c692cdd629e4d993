use mcp_runtime::prelude::*;

struct Notes;

#[handlers]
impl Notes {
    /// Recalls.
    #[prompt]
    fn recall(&self, #[complete(titles)] title: &str) -> String {
        title.to_owned()
    }

    #[completion]
    fn titles(&self, typed: &str) -> Vec<String> {
        vec![typed.to_owned()]
    }
}

fn main() {}
