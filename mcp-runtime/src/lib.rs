//! Model Context Protocol servers from plain functions.

// Remove when the rooms below are used by those that build on them.
#![allow(dead_code, unused_imports)]

mod transport;
mod wire;

/// What this crate's own tests need of the inside; not for anybody else.
#[doc(hidden)]
#[cfg(all(feature = "stdio", any(unix, windows)))]
pub mod __stdio {
    pub use crate::transport::stdio::{Guard, Input, Output, restore};
}
