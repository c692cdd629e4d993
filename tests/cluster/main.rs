//! Three server processes that share a real Redis, behind nginx, which sends each request to the next process.
//!
//! The suite `faults` tests several nodes in one process, so that the test sees every message between them, and the death of a node. The
//! suite `conformance` runs the official scenarios against such a cluster.

#![cfg(target_os = "linux")]
#![forbid(unsafe_code)]

#[path = "../faults/client.rs"]
#[allow(dead_code, reason = "the suite `faults` uses the rest")]
mod client;
mod costs;
mod interrupted;
mod listeners;
mod memory;
mod outages;
#[path = "../faults/pair.rs"]
#[allow(dead_code, reason = "the suite `faults` uses the rest")]
mod pair;
mod pairs;
mod restart;
#[path = "../faults/server.rs"]
#[allow(dead_code, reason = "the suite `faults` uses the rest")]
mod server;

fn main() -> std::process::ExitCode {
    support::harness::run_at_once(4)
}

/// Prints a figure for the section "Several nodes" of BENCHMARKS.md, which `mcp-runtime/benches/table` writes.
fn report(what: &str, goal: &str, figure: &str) {
    support::note!("{what} | {goal} | {figure}");
}
