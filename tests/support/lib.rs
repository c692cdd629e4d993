//! What the whole-server suites beside this folder share.
//!
//! - [`examples`]: the example servers, built once per test binary.
//! - [`schema`]: judges a server's messages by the official schema of their revision.
//! - [`http`]: the same over HTTP, with a client that can send anything.
//! - [`transcript`], [`pattern`], [`replay`]: recorded conversations and how they are held against a server.
//! - [`requirement`]: what happens when something outside the repository is missing.

#![forbid(unsafe_code)]

pub mod examples;
pub mod http;
mod judge;
pub mod pattern;
pub mod replay;
pub mod requirement;
pub mod schema;
pub mod transcript;
