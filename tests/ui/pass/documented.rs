//! Descriptions that come from files and expressions.
#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, clippy::pedantic)]
// These lints are about the functions as written here, not about the code that the attributes generate.
#![allow(
    clippy::many_single_char_names,
    clippy::needless_arbitrary_self_type,
    clippy::needless_pass_by_value,
    clippy::too_many_arguments,
    clippy::unnecessary_wraps,
    clippy::unused_async,
    clippy::unused_self
)]

use mcp_runtime::prelude::*;

const TITLE: &str = "From a constant";

#[doc = include_str!("documented.md")]
#[tool(title = TITLE)]
fn documented(
    #[doc = include_str!("documented.md")] text: &str,
    #[arg(description = concat!("a", "b"))] number: u8,
) -> String {
    format!("{text}{number}")
}

/// A first line,
#[doc = concat!("and", " a second.")]
#[prompt]
fn documented_prompt() -> &'static str {
    TITLE
}
