//! Expressions in the values of keys, with syntax that syn parses only with its feature `full`.
#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, clippy::pedantic)]
// These lints are about the functions as written here, not about the code that the attributes generate.
#![allow(clippy::unnecessary_wraps)]

use mcp_runtime::prelude::*;

/// Has defaults that syn does not know without the feature.
#[tool(name = "expressions.defaults", timeout = "5s")]
async fn defaults(
    #[arg(default = [1, 2])] array: [u8; 2],
    #[arg(default = { 1 + 1 })] block: u8,
    #[arg(default = if cfg!(test) { 1 } else { 2 })] condition: u8,
    #[arg(default = "abc".chars().map(|char| char.len_utf8() + 1).sum::<usize>())] closure: usize,
    #[arg(default = std::collections::BTreeMap::<String, u8>::from([(String::new(), 1)]).len(), range(..=9))]
    generic: usize,
    #[arg(default = matches!(Some(1), Some(2 | 3)), title = "Macro")] macro_call: bool,
    #[arg(default = -1, range(-10..-0))] mut negative: i8,
) -> String {
    negative += 1;
    format!("{array:?} {block} {condition} {closure} {generic} {macro_call} {negative}")
}

/// Has a policy with a closure.
#[tool(name = "expressions.policy", auth(move |caller, access| access.is_listing() || caller.has_scope("a")), group = "guarded")]
fn policy(#[arg(range(0.5..))] float: f64) -> f64 {
    float
}

/// Starts no server, because the tests only build it.
pub fn main() {
    let _ = mcp_runtime::server!(instructions = if cfg!(test) { "Test." } else { "Build." });
}
