//! The files of `examples/deploy`, with the programs that they are for.
//!
//! nginx and Caddy run with the committed files in front of real servers, and clients connect to them over TLS. The files for systemd,
//! container images and Kubernetes are checked by `systemd-analyze` and by linters from npm and PyPI, because the tests have neither a service
//! manager nor a cluster.
//!
//! The files of `examples/cluster` start three nodes with a Redis behind nginx.
//!
//! A test changes as few words of a file as possible, such as ports and paths ([`files::replace`]), and fails if one of them is missing.

#![cfg(target_os = "linux")]
#![forbid(unsafe_code)]

mod behind;
#[path = "../faults/browser.rs"]
#[allow(dead_code, reason = "the suite `faults` uses the rest")]
mod browser;
mod caddy;
#[path = "../faults/client.rs"]
#[allow(dead_code, reason = "the suite `faults` uses the rest")]
mod client;
mod cluster;
mod files;
mod front;
mod idle;
mod image;
mod kubernetes;
mod limits;
mod login;
mod nginx;
mod relay;
#[path = "../faults/server.rs"]
#[allow(dead_code, reason = "the suite `faults` uses the rest")]
mod server;
mod service;

fn main() -> std::process::ExitCode {
    support::harness::run()
}
