//! The state that the other modules use.
#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, clippy::pedantic)]

/// A database.
pub(super) struct Db;
