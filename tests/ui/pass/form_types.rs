//! `#[form]` with every type a field can have, under names of the user's own.
#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, clippy::pedantic)]
// Only derived code builds these types.
#![allow(dead_code)]

use mcp_runtime::prelude::*;
use std::collections::BTreeSet;

type Words = String;

const MANY: u8 = 5;
const TITLE: &str = "By another name";

/// Shadows what generated code must not take from here.
pub enum Option {
    /// Something
    Some,
}

/// One of them.
#[form]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "SCREAMING-KEBAB-CASE", rename = "one")]
#[non_exhaustive]
pub enum Choice {
    /// The first
    #[default]
    FirstOne = 3,
    #[arg(title = TITLE)]
    #[serde(rename = "2")]
    Second,
    /** A third */
    r#Third,
}

/// Titles as they were told once.
#[form(enum_names)]
enum Old {
    /// One
    #[doc(alias = "uno")]
    One,
}

/// All of them.
#[form]
#[derive(Debug)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Everything {
    /// A word
    #[arg(len(1..), title = TITLE, description = TITLE)]
    pub r#type: Words,
    #[arg(default = "x", format = "uri")]
    #[doc = include_str!("documented.md")]
    pub text: Words,
    #[arg(default = MANY, range(0x1..=10))]
    a: u8,
    #[arg(default = -1, range(-1..))]
    b: i128,
    #[arg(default = 1.5e3, range(..=2e3))]
    c: f32,
    #[arg(default)]
    d: f64,
    #[arg(default = MANY > 3)]
    e: bool,
    #[arg(default = Choice::Second)]
    f: Choice,
    #[arg(default)]
    g: Choice,
    #[arg(len(..=2), default = vec![Choice::FirstOne])]
    h: Vec<Choice>,
    #[arg(default = BTreeSet::from([Choice::Second]))]
    #[arg(len(1..=2))]
    i: BTreeSet<Choice>,
    #[arg(len(2..=2))]
    j: ::std::option::Option<BTreeSet<Choice>>,
    #[arg(range(..=2.5))]
    k: ::std::option::Option<f64>,
    #[serde(rename = "the last")]
    l: ::std::option::Option<bool>,
}
