//! The form of a schema that all known clients read.
//!
//! schemars writes valid JSON Schema 2020-12, but much of it makes some client drop a tool, or all tools of a server: the dialects of model
//! providers know only a fraction of the standard. [`rules`] lists what is rewritten and why.
//!
//! **Arguments and results differ.** The published schema of an argument may be narrower than what the server accepts: no client needs the
//! `null` of an `Option`. The published schema of a result must hold for every result, because clients check results against it and refuse
//! the call otherwise (TheGreenCedar/CodeStory#1971, xberg-io/xberg#1372). So there are two functions: [`compatible`] for arguments and
//! [`compatible_result`] for results. Models read the schemas of arguments, so a keyword that is removed there may become a sentence of the
//! description ([`sentences`](super::sentences)). The type of the argument still enforces the removed keyword.
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

pub(super) use rewrite::DIALECT;
pub(crate) use rewrite::{compatible, compatible_result, full};
