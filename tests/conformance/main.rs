//! The official conformance suite over HTTP. The example `everything` is tested as an MCP server, and `notes` as an authorization server.
//!
//! The suite is installed once, at a pinned version, into `target/conformance`, and writes its results to the subfolder `results`. If the
//! suite cannot be installed, the tests are ignored, and fail in CI.

#![forbid(unsafe_code)]

mod authorization;
mod lists;
mod suite;
mod verdict;

#[cfg(unix)]
use support::cluster::ServerCluster;
use support::{examples::example, process::HttpServer, requirement::needs};

use crate::{lists::REVISIONS, suite::Suite};

fn main() -> std::process::ExitCode {
    support::harness::run()
}

/// Tests one server process, first in the legacy era and then in the modern era.
#[support::test]
fn everything_conforms_to_both_eras() {
    let suite = needs(Suite::installed());
    let server = HttpServer::start(example("everything"), &[], []);
    check(&suite, &server.url);
}

/// Tests three server processes that share a Redis, with a load balancer that sends each request to the next one.
#[cfg(unix)]
#[support::test]
fn several_nodes_behind_nginx_conform_to_both_eras() {
    let suite = needs(Suite::installed());
    let cluster = needs(ServerCluster::start(example("everything")));
    check(&suite, &cluster.url());
}

fn check(suite: &Suite, url: &str) {
    let mut problems = Vec::new();
    for (revision, not_yet) in REVISIONS {
        let scenarios = suite.run(url, revision);
        let found = verdict::problems(&scenarios, not_yet);
        problems.extend(found.into_iter().map(|problem| format!("{revision} {problem}")));
    }
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}
