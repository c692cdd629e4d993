//! Official clients against three processes of a server that share a Redis, behind nginx, which sends each request to the next process.

use std::{collections::BTreeSet, path::Path};

use serde_json::{Value, json};
use support::{cluster::ServerCluster, examples::example, requirement::needs};

use crate::{
    asking::{check_answers, questions},
    everything, python,
    python::text,
    server::Server,
    tasks, typescript,
};

const MODERN: &str = "2026-07-28";
const LEGACY: &str = "2025-11-25";

/// Lets `check` use a cluster of the example `everything`.
fn with_cluster(check: impl FnOnce(&Server)) {
    let cluster = needs(ServerCluster::start(example("everything")));
    check(&Server::new("everything").found_at(cluster.address));
}

#[support::test]
fn clients_call_read_watch_and_cancel_at_several_nodes() {
    with_cluster(|server| {
        everything::check_python(server, "auto", MODERN);
        everything::check_python(server, "legacy", LEGACY);
        everything::check_typescript_at(server, "client", "auto", MODERN);
        for version in [LEGACY, "2025-06-18", "2025-03-26"] {
            everything::check_typescript_at(server, "client", version, version);
        }
        everything::check_typescript_at(server, "sdk", "auto", LEGACY);
    });
}

#[support::test]
fn clients_answer_questions_of_calls_at_several_nodes() {
    with_cluster(|server| {
        for (era, revision) in [("auto", MODERN), ("legacy", LEGACY)] {
            let report = needs(python::carry_out(server, era, questions()));
            check_answers(&report, revision);
        }
        for revision in [MODERN, LEGACY, "2025-06-18", "2025-03-26"] {
            let report = needs(typescript::carry_out(server, "client", revision, questions()));
            check_answers(&report, revision);
        }
    });
}

/// A client of HTTP+SSE has its stream at one node, and nginx sends each of its messages to the next node.
#[support::test]
fn clients_of_http_sse_send_their_messages_to_any_node() {
    with_cluster(|server| {
        everything::check_python(server, "sse", LEGACY);
        everything::check_typescript_at(server, "sdk-sse", "auto", LEGACY);
        for report in [
            python::carry_out(server, "sse", questions()),
            typescript::carry_out(server, "sdk-sse", "auto", questions()),
        ] {
            check_answers(&needs(report), LEGACY);
        }
    });
}

#[support::test]
fn clients_look_after_tasks_at_several_nodes() {
    with_cluster(|server| {
        tasks::check_python(server);
        tasks::check_newer_dialect(server);
        tasks::check_older_dialect(server);
    });
}

/// Returns the process ids that the calls of a client have returned.
fn processes(report: &Value) -> BTreeSet<String> {
    let outcomes = report["steps"].as_array().expect("one outcome for each step");
    outcomes.iter().map(|outcome| text(outcome).expect("a process id").to_owned()).collect()
}

#[support::test]
fn the_calls_of_a_client_run_at_different_nodes() {
    let cluster = needs(ServerCluster::start(Path::new(env!("CARGO_BIN_EXE_http-fixture"))));
    let server = Server::new("everything").found_at(cluster.address);
    let steps: Vec<_> = (0..6).map(|_| json!({ "do": "call", "name": "process_id" })).collect();
    let reports = [
        python::drive(&server, "auto", &steps),
        python::drive(&server, "legacy", &steps),
        typescript::drive(&server, "client", MODERN, &steps),
        typescript::drive(&server, "client", LEGACY, &steps),
    ];
    let nodes: BTreeSet<_> = cluster.pids().iter().map(u32::to_string).collect();
    for report in reports {
        let seen = processes(&needs(report));
        assert!(seen.len() > 1 && seen.is_subset(&nodes), "{seen:?} of {nodes:?}");
    }
}
