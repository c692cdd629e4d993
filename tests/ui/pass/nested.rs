//! Items in all places where a function can be.
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

/// A module called like its function.
mod inner {
    use mcp_runtime::prelude::*;

    /// Called like the module.
    #[tool(name = "nested.inner")]
    pub(in super::super) fn inner(text: &str) -> String {
        deeper::deepest(text.to_owned())
    }

    mod deeper {
        use mcp_runtime::prelude::*;

        /// Called from outside too.
        #[tool(name = "nested.deepest")]
        pub(super) fn deepest(text: String) -> String {
            text
        }
    }
}

/// Registers the item in its body without being called.
pub(super) fn outer() -> String {
    use mcp_runtime::prelude::*;

    /// What is in the body.
    #[data]
    struct Local {
        /// A number
        number: u8,
    }

    /// In a body.
    #[tool(name = "nested.body")]
    fn body(local: Local) -> String {
        format!("{}", local.number)
    }

    body(Local { number: 1 })
}
