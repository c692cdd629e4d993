//! The TypeScript SDK's clients. `typescript_peer.cjs` and, for tasks, `tasks_peer.mjs` in this folder list the steps that they know.

use std::{collections::BTreeMap, ffi::OsStr, sync::OnceLock};

use serde_json::{Value, json};
use support::{node::Node, requirement::Missing};

use crate::{driver::report, peers, server::Server};

const PACKAGE: &str = include_str!("typescript.json");
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/peers/typescript_peer.cjs");
const TASKS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/peers/tasks_peer.mjs");

fn node() -> Result<&'static Node, Missing> {
    static NODE: OnceLock<Result<Node, String>> = OnceLock::new();
    let install = || Node::installed(&peers(), "typescript-2.4.0", PACKAGE);
    let node = NODE.get_or_init(|| install().map_err(|missing| missing.to_string()));
    node.as_ref().map_err(Missing::new)
}

/// Lets `client`, `sdk` or `sdk-sse` carry out these steps, and returns the report.
pub(crate) fn drive(
    server: &Server,
    client: &str,
    version: &str,
    steps: &[Value],
) -> Result<Value, Missing> {
    carry_out(server, client, version, json!({ "steps": steps }))
}

/// Lets one of these clients carry out a plan, and returns the report.
pub(crate) fn carry_out(
    server: &Server,
    client: &str,
    version: &str,
    mut plan: Value,
) -> Result<Value, Missing> {
    let environment: BTreeMap<_, _> = server.environment().into();
    plan["environment"] = json!(environment);
    let node = node()?;
    let mut command = node.run(SCRIPT);
    command.arg(&node.folder).args([client, version]);
    match client {
        "sdk-sse" => command.arg(server.sse()),
        _ => command.arg::<&OsStr>(server.address()),
    };
    let peer = format!("{}, {client}, {version}", server.name);
    let report = report(&mut command, &plan, &peer);
    // Only legacy revisions over HTTP have sessions, and the HTTP+SSE client does not expose the id of its session. A client that could not
    // log in has no session, and reports no protocol revision.
    let is_in_session = server.is_http()
        && client != "sdk-sse"
        && report["protocol"].is_string()
        && report["protocol"] != "2026-07-28";
    assert_eq!(report["session"].is_string(), is_in_session, "{peer}: {}", report["session"]);
    Ok(report)
}

/// Lets `client` or `sdk` carry out a plan of tasks, and returns the report.
pub(crate) fn look_after(
    server: &Server,
    client: &str,
    version: &str,
    mut plan: Value,
) -> Result<Value, Missing> {
    let environment: BTreeMap<_, _> = server.environment().into();
    plan["environment"] = json!(environment);
    let node = node()?;
    let mut command = node.run(TASKS);
    command.arg(&node.folder).args([client, version]).arg(server.address());
    Ok(report(&mut command, &plan, &format!("{}, tasks of {client}, {version}", server.name)))
}
