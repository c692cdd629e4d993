//! The official conformance suite over HTTP: against the example `everything`, and its part for authorization servers against `notes`.
//!
//! The suite is installed once, at a pinned version, into `target/conformance`, where its results are kept in `results`. If it cannot be
//! installed, the test passes with a note on a developer's machine, and fails under CI.

#![forbid(unsafe_code)]

mod authorization;
mod lists;
mod suite;
mod verdict;

use support::{examples::example, process::HttpServer};

use crate::{lists::REVISIONS, suite::Suite};

/// Tests one server process in both eras, one after the other.
#[test]
fn everything_conforms_to_both_eras() {
    let suite = match Suite::installed() {
        Ok(suite) => suite,
        Err(missing) => return missing.skip(),
    };
    let server = HttpServer::start(example("everything"), &[], []);
    let mut problems = Vec::new();
    for (revision, not_yet) in REVISIONS {
        let scenarios = suite.run(&server.url, revision);
        let found = verdict::problems(&scenarios, not_yet);
        problems.extend(found.into_iter().map(|it| format!("{revision} {it}")));
    }
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}
