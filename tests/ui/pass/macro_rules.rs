//! Items that a macro of the user writes.
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

macro_rules! unit {
    ($name:ident, $type:ty, $doc:literal, $factor:expr) => {
        #[doc = $doc]
        #[tool(read_only)]
        fn $name(
            /// The measure
            #[arg(default = $factor)]
            value: $type,
            list: &[$type],
        ) -> $type {
            list.iter().fold(value, |sum, factor| sum * factor)
        }
    };
}
unit!(macro_metres, f64, "To metres.", 0.5);
unit!(macro_grams, f32, "To grams.", 2.0);
