//! The files of `examples/deploy`, with the programs that they are for.
//!
//! nginx and Caddy run with the committed files in front of real servers, and clients connect to them over TLS. The files for systemd,
//! container images and Kubernetes are checked by `systemd-analyze` and by linters from npm and PyPI, because the tests have neither a service
//! manager nor a cluster.
//!
//! The files of `examples/cluster` start three nodes with a Redis behind nginx.
//!
//! A test changes as few words of a file as possible, such as ports and paths ([`files::replace`]), and fails if one of them is missing.

#![forbid(unsafe_code)]

#[cfg(target_os = "linux")]
mod behind;
#[cfg(target_os = "linux")]
#[path = "../faults/browser.rs"]
#[allow(dead_code, reason = "the suite `faults` uses the rest")]
mod browser;
#[cfg(target_os = "linux")]
mod caddy;
#[cfg(target_os = "linux")]
#[path = "../faults/client.rs"]
#[allow(dead_code, reason = "the suite `faults` uses the rest")]
mod client;
#[cfg(target_os = "linux")]
mod cluster;
#[cfg(target_os = "linux")]
mod files;
#[cfg(target_os = "linux")]
mod front;
#[cfg(target_os = "linux")]
mod idle;
#[cfg(target_os = "linux")]
mod image;
#[cfg(target_os = "linux")]
mod kubernetes;
#[cfg(target_os = "linux")]
mod limits;
#[cfg(target_os = "linux")]
mod login;
#[cfg(target_os = "linux")]
mod nginx;
#[cfg(target_os = "linux")]
mod relay;
#[cfg(target_os = "linux")]
#[path = "../faults/server.rs"]
#[allow(dead_code, reason = "the suite `faults` uses the rest")]
mod server;
#[cfg(target_os = "linux")]
mod service;

fn main() -> std::process::ExitCode {
    support::harness::run()
}
