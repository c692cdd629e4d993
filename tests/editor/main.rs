//! Crates of servers in rust-analyzer, over its protocol. The tests compare the diagnostics, definitions and completions of an author with those
//! of plain functions and of rmcp.
//!
//! Each test prints its part of a table. Counts do not depend on the machine. Times are ratios of two crates in one run of one server.

#![forbid(unsafe_code)]

mod client;
mod project;
mod reading;
mod shops;
mod speed;
mod texts;
mod typing;

fn main() -> std::process::ExitCode {
    // Two servers at once would disturb each other's times.
    support::harness::run_at_once(1)
}
