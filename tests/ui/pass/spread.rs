//! Structs that are spread over the arguments, and attributes of serde on single parameters.
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
use std::collections::BTreeMap;

/// Where and when.
#[data]
#[serde(rename_all = "camelCase")]
struct Search {
    /// What to look for
    #[serde(alias = "q", alias = "text")]
    query_text: String,
    /// How many at most
    #[serde(default = "ten")]
    page_size: u8,
    /// Where
    #[serde(flatten)]
    place: Place,
    /// Left out
    #[serde(skip)]
    _cache: u8,
}

/// A place.
#[data]
struct Place {
    /// The city
    #[schemars(length(max = 50))]
    city: Option<String>,
}

fn ten() -> u8 {
    10
}

/// Searches.
#[tool]
fn spread_search(search: Args<Search>, exact: bool) -> String {
    format!("{}{}{:?}{exact}", search.query_text, search.page_size, search.place.city)
}

/// Serde on the parameters themselves.
#[tool]
fn spread_parameters(
    /// By another name
    #[serde(rename = "userName", alias = "user")]
    #[schemars(length(min = 1))]
    name: &str,
    #[serde(default = "ten")] count: u8,
    #[serde(rename = "tagList", default)] tags: &[String],
    #[serde(flatten)] rest: BTreeMap<String, u8>,
) -> String {
    format!("{name}{count}{tags:?}{rest:?}")
}
