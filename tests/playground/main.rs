//! The playground: its built page, the logic of its sources, and a user in front of it in a real Chromium.
//!
//! The tests install the packages that `mcp-runtime/playground/package-lock.json` pins into `target/playground`, and run a copy of the sources
//! there. Chromium is a program of the system. If something is missing, the tests are ignored, and fail in CI.

#![forbid(unsafe_code)]

mod browser;
mod built;
mod page;
mod sources;

fn main() -> std::process::ExitCode {
    support::harness::run()
}
