//! The form of a schema that all known clients read.
//!
//! schemars writes valid JSON Schema 2020-12, but the dialects of model providers cover only a fraction of that standard. Other keywords
//! make some clients drop a tool, or all tools of a server. The table in [`rules`] lists each rewritten feature with the reason.
//!
//! **Arguments and results differ.** The published schema of an argument may be narrower than what the server accepts. For example, it
//! omits the `null` of an `Option`, because clients can omit the argument. The published schema of a result must accept every result,
//! because clients validate results and treat an invalid result as an error (TheGreenCedar/CodeStory#1971, xberg-io/xberg#1372). So there
//! are two functions: [`compatible`] for arguments and [`compatible_result`] for results. Models read the schemas of arguments, so a
//! keyword that is removed from an argument may become a sentence of the description ([`sentences`](super::sentences)). The type of the
//! argument still enforces the removed keyword.
//!
//! Elicitation forms have a dialect of their own and are not rewritten here.

mod choices;
#[cfg(feature = "stdio")]
pub(crate) mod complaint;
mod keywords;
mod rewrite;
mod rules;
#[cfg(test)]
mod tests;

pub(super) use keywords::LIST_LEVELS;
pub(super) use rewrite::DIALECT;
pub(crate) use rewrite::{compatible, compatible_result, full};
