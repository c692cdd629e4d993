//! Types and macros of the user with names of the standard library. Generated code must not pick them up.
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

use mcp_runtime::prelude::{data, prompt, resource, tool};

mod core {}
mod std {}
mod serde {}
mod schemars {}

/// Not a result.
#[data]
pub(super) struct Result;

/// Not a string.
#[data]
pub(super) struct String;

/// Not a vector.
#[data]
pub(super) struct Vec;

/// Not a box.
#[data]
pub(super) struct Box;

/// Not an option.
#[data]
pub(super) enum Option {
    /// Not something
    Some,
    /// Not right
    Ok,
}

use self::Option::{Ok, Some};

macro_rules! mine {
    ($($name:ident)*) => {$(
        #[expect(unused_macros, reason = "generated code must not find it")]
        macro_rules! $name {
            () => {
                compile_error!("this one is the user's")
            };
        }
    )*};
}
mine! { vec format env option_env concat file line module_path stringify }

/// Takes them all.
#[tool]
fn shadowed(
    result: Result,
    string: String,
    vec: Vec,
    r#box: Box,
    option: Option,
    #[arg(default = "x")] text: &str,
) -> &'static str {
    let _ = (result, string, vec, r#box, text);
    match option {
        Some => "some",
        Ok => "ok",
    }
}

/// Text beside them.
#[prompt]
fn shadowed_prompt(#[complete("a")] text: &str) -> &'static str {
    if text.is_empty() { "nothing" } else { "something" }
}

/// A variable beside them.
#[resource("shadowed://{id}")]
fn shadowed_resource(id: u8) -> &'static str {
    if id == 0 { "zero" } else { "more" }
}
