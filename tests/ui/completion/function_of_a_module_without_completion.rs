use mcp_runtime::prelude::*;

mod words {
    pub fn colors(typed: &str) -> Vec<String> {
        vec![typed.to_owned()]
    }
}
use words::colors as tones;

/// Paints.
#[prompt]
fn paint(
    #[complete(words::colors)] color: &str, // mistake
    #[complete(tones)] tone: &str,          // mistake
) -> String {
    format!("{color} {tone}")
}

fn main() {}
