//! The Python SDK's client. `python_peer.py` in this folder lists the steps that it knows.

use std::{collections::BTreeMap, sync::OnceLock};

use serde_json::{Value, json};
use support::{
    python::Python,
    requirement::{Missing, needs},
};

use crate::{driver::report, peers, server::Server};

const REQUIREMENTS: &str = include_str!("requirements.txt");
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/peers/python_peer.py");

fn python() -> Result<&'static Python, Missing> {
    static PYTHON: OnceLock<Result<Python, String>> = OnceLock::new();
    let install = || Python::installed(&peers(), "python-2.3.0", REQUIREMENTS);
    let python = PYTHON.get_or_init(|| install().map_err(|missing| missing.to_string()));
    python.as_ref().map_err(Missing::new)
}

/// Lets the client carry out these steps, and returns the report.
pub(crate) fn drive(server: &Server, era: &str, steps: &[Value]) -> Result<Value, Missing> {
    carry_out(server, era, json!({ "steps": steps }))
}

/// Lets the client carry out a plan, and returns the report. The era `sse` stands for HTTP+SSE in the legacy era.
pub(crate) fn carry_out(server: &Server, era: &str, mut plan: Value) -> Result<Value, Missing> {
    let environment: BTreeMap<_, _> = server.environment().into();
    plan["environment"] = json!(environment);
    let mut command = python()?.run(SCRIPT);
    match era {
        "sse" => command.args(["--era", "legacy", "--"]).arg(server.sse()),
        _ => command.args(["--era", era, "--"]).arg(server.address()),
    };
    Ok(report(&mut command, &plan, &format!("{}, Python, {era}", server.name)))
}

/// Lets the client carry out these steps in each era, and checks the outcomes.
#[track_caller]
pub(crate) fn check(server: &Server, steps: &[Value], expected: impl Fn(&[Value]) -> bool) {
    for (era, protocol) in [("auto", "2026-07-28"), ("legacy", "2025-11-25")] {
        let report = needs(drive(server, era, steps));
        assert_eq!(report["protocol"], protocol);
        let outcomes = report["steps"].as_array().expect("one outcome for each step");
        let shown = || serde_json::to_string_pretty(outcomes).unwrap_or_default();
        assert!(expected(outcomes), "{}, {era}: {steps:?}\n{}", server.name, shown());
    }
}

/// Returns the text of a tool's result, unless it is an error.
pub(crate) fn text(outcome: &Value) -> Option<&str> {
    let is_error = outcome["result"]["isError"] == json!(true);
    outcome["result"]["content"][0]["text"].as_str().filter(|_| !is_error)
}

/// Returns the text of a tool's error, which is meant for the model.
pub(crate) fn failure(outcome: &Value) -> Option<&str> {
    let is_error = outcome["result"]["isError"] == json!(true);
    outcome["result"]["content"][0]["text"].as_str().filter(|_| is_error)
}
