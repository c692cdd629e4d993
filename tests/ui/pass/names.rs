//! Names that have a meaning in Rust or in generated code.
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

/// Called like a macro.
#[tool]
fn format(vec: &[u8]) -> String {
    std::format!("{vec:?}")
}

/// Called like another.
#[tool]
fn vec(format: &str) -> String {
    format.to_owned()
}

/// Keywords as names.
#[tool]
fn r#match(r#type: &str, r#use: Option<u8>, #[serde(default)] r#fn: u8) -> String {
    format(&[r#fn, r#use.unwrap_or_default()]) + r#type
}

/// A keyword as a variable.
#[resource("names://{type}")]
fn r#struct(r#type: &str) -> String {
    r#type.to_owned()
}

/// Names that generated code uses too.
#[tool]
fn call(params: u8, run: u8, mcp: u8, p0: u8, v0: u8, cx: u8, to: u8, reply: u8) -> u8 {
    params + run + mcp + p0 + v0 + cx + to + reply
}

/// As many parameters as anybody has.
#[tool]
#[expect(clippy::too_many_arguments, reason = "that is what it is for")]
fn twenty(
    a: u8,
    b: u16,
    c: u32,
    d: u64,
    e: i8,
    f: i16,
    g: i32,
    h: i64,
    i: f32,
    j: f64,
    k: bool,
    l: char,
    m: &str,
    n: String,
    o: &[u8],
    p: Vec<String>,
    q: Option<u8>,
    r: Option<&str>,
    s: (u8, u8),
    t: [u8; 2],
) -> String {
    std::format!("{a}{b}{c}{d}{e}{f}{g}{h}{i}{j}{k}{l}{m}{n}{o:?}{p:?}{q:?}{r:?}{s:?}{t:?}")
}
