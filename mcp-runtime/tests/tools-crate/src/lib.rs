//! A crate with items of its own, as a library of tools would be.

use mcp_runtime::prelude::*;

/// Says from which crate it comes.
#[tool]
pub fn foreign() -> &'static str {
    module_path!()
}

/// Needs state that only servers with the items of this crate have.
#[tool(group = "stateful")]
pub fn foreign_state(state: &Ledger) -> u32 {
    state.0
}

/// State of this crate.
#[derive(Debug)]
pub struct Ledger(
    /// Number that the items of this crate read.
    pub u32,
);

/// A resource of the other crate.
#[resource("foreign://here")]
pub fn foreign_resource() -> &'static str {
    "there"
}

/// Completes for a prompt of the other crate.
#[completion]
pub fn ledgers(typed: &str, state: &Ledger) -> Vec<String> {
    vec![format!("{typed}{}", state.0)]
}

/// A prompt of the other crate, in a group.
#[prompt(group = "stateful")]
pub fn foreign_prompt(#[complete(ledgers)] ledger: &str) -> String {
    ledger.to_owned()
}

/// Has the same name as a prompt in the tests that serve this crate.
#[prompt(group = "foreign twins")]
pub fn twin() -> &'static str {
    ""
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_items_of_this_crate_make_a_server() {
        mcp_runtime::testing::assert_builds!();
    }
}
