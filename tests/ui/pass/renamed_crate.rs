//! The crate under another name, which `crate = …` gives.
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

extern crate mcp_runtime as renamed;

use self::renamed::prelude::{data, handlers, items, prompt, resource, tool};

/// Through the other name.
#[data(crate = crate::pass::renamed_crate::renamed)]
struct Point {
    /// The only coordinate
    x: f64,
}

/// Moves.
#[tool(name = "renamed.tool", crate = self::renamed)]
fn go(to: Point, #[serde(rename = "fromPoint")] _from: Option<u8>) -> f64 {
    to.x
}

/// Reads.
#[resource("renamed://{id}", crate = self::renamed)]
fn read(id: u8) -> String {
    id.to_string()
}

/// Asks.
#[prompt(name = "renamed.prompt", crate = self::renamed)]
fn ask(text: &str) -> String {
    text.to_owned()
}

pub(super) struct Renamed;

#[handlers(crate = self::renamed)]
impl Renamed {
    /// Answers.
    #[tool(name = "renamed.method")]
    fn answer(&self) -> u8 {
        42
    }
}

/// Returns the items, listed through the other name.
pub(super) fn all() -> renamed::Items {
    items![crate = self::renamed, go, read, ask, Renamed::answer]
}
