//! Three server processes that share a real Redis, behind nginx, which sends each request to the next process.
//!
//! The suite `faults` tests several nodes in one process, so that the test sees every message between them, and the death of a node. The
//! suite `conformance` runs the official scenarios against such a cluster.

#![forbid(unsafe_code)]

#[cfg(target_os = "linux")]
#[path = "../faults/client.rs"]
#[allow(dead_code, reason = "the suite `faults` uses the rest")]
mod client;
#[cfg(target_os = "linux")]
mod costs;
#[cfg(target_os = "linux")]
mod interrupted;
#[cfg(target_os = "linux")]
mod listeners;
#[cfg(target_os = "linux")]
mod memory;
#[cfg(target_os = "linux")]
mod outages;
#[cfg(target_os = "linux")]
#[path = "../faults/pair.rs"]
#[allow(dead_code, reason = "the suite `faults` uses the rest")]
mod pair;
#[cfg(target_os = "linux")]
mod pairs;
#[cfg(target_os = "linux")]
mod refusing;
#[cfg(target_os = "linux")]
mod restart;
#[cfg(target_os = "linux")]
#[path = "../faults/server.rs"]
#[allow(dead_code, reason = "the suite `faults` uses the rest")]
mod server;

fn main() -> std::process::ExitCode {
    support::harness::run_at_once(4)
}

/// Prints a figure for the section "Several nodes" of BENCHMARKS.md, which `mcp-runtime/benches/table` writes.
#[cfg(target_os = "linux")]
fn report(what: &str, goal: &str, figure: &str) {
    support::note!("{what} | {goal} | {figure}");
}
