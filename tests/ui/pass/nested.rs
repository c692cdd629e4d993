//! Items wherever functions can be.
#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, clippy::pedantic)]

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

/// Registers what stands in its body, without being called.
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
