//! Pages of the guide, which are Markdown files in `docs/guide/`.
//!
//! The pages are part of the documentation with all features only, so that their links to items behind features work.

#[doc = include_str!("../docs/guide/01-first-server.md")]
pub mod first_server {}
