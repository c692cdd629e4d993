//! Items that are compiled only under some conditions (`#[cfg]`).
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

/// Only here.
#[cfg(test)]
#[tool]
fn configured() -> &'static str {
    "here"
}

/// The same name, never there.
#[cfg(not(test))]
#[tool]
fn configured(missing: NoSuchType) -> NoSuchType {
    missing
}

/// Configured after the attribute.
#[tool]
#[cfg(not(test))]
fn configured_below(missing: NoSuchType) -> NoSuchType {
    missing
}

/// With attributes of others around.
#[inline]
#[tool]
#[must_use]
fn configured_lint(#[expect(unused_variables, reason = "the schema shows it")] text: &str) -> u8 {
    1
}
