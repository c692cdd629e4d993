use mcp_runtime::prelude::*;

/// Returns the first word of a text.
#[tool]
fn first_word(text: &str) -> Result<String> {
    let word = text.split_whitespace().next().ok_or_else(|| Error::msg("the text is empty"))?;
    Ok(word.to_owned())
}

fn main() {}
