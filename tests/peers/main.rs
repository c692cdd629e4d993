//! Official clients against the example servers, and against a server that asks its user, over stdio and HTTP.
//!
//! Each client is installed once, at a pinned version, into `target/peers`. If a client cannot be installed, its tests are ignored,
//! and fail in CI.

#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};

mod asking;
mod book;
#[cfg(target_os = "linux")]
mod cluster;
mod database;
mod deploy;
mod driver;
mod everything;
mod files;
mod inspector;
mod issues;
mod memory;
mod notes;
mod portable;
mod python;
mod quickstart;
mod server;
mod tasks;
mod time;
mod tracker;
mod typescript;

fn main() -> std::process::ExitCode {
    support::harness::run()
}

/// Returns the folder where the clients are installed.
fn peers() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("peers")
}
