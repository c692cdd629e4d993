//! The servers that the clients of this suite connect to.

use std::path::Path;

pub(crate) use support::server::{API_KEY, PASSWORDS, Server};

/// Returns the server of this suite, which asks its user.
pub(crate) fn asking() -> Server {
    Server::of("asking", Path::new(env!("CARGO_BIN_EXE_asking-fixture")))
}
