//! The Python SDK's client; `python_peer.py` beside this file says what it can be asked.

use std::{
    io::Write,
    path::PathBuf,
    process::{Command, Stdio},
    sync::OnceLock,
};

use serde_json::{Value, json};
use support::{
    examples::example,
    requirement::{Missing, output_of},
};

use crate::install::installed;

const REQUIREMENTS: &str = include_str!("requirements.txt");
const QUICKSTART: &[&str] = &["quickstart"];
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/peers/python_peer.py");

fn interpreter() -> Result<&'static PathBuf, Missing> {
    static INTERPRETER: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let install = || -> Result<PathBuf, Missing> {
        let folder = installed("python-2.3.0", REQUIREMENTS, |folder| {
            output_of(Command::new("python3").args(["-m", "venv"]).arg(folder))?;
            let pip = folder.join("bin/python");
            let requirements = concat!(env!("CARGO_MANIFEST_DIR"), "/peers/requirements.txt");
            output_of(
                Command::new(pip)
                    .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
                    .args(["-r", requirements]),
            )?;
            Ok(())
        })?;
        Ok(folder.join("bin/python"))
    };
    let interpreter = INTERPRETER.get_or_init(|| install().map_err(|missing| missing.to_string()));
    interpreter.as_ref().map_err(Missing::new)
}

/// Carries out `plan` on an example, `server` being its name and arguments, and returns the report.
fn drive(server: &[&str], era: &str, plan: &Value) -> Result<Value, Missing> {
    let mut child = Command::new(interpreter()?)
        .args([SCRIPT, "--era", era, "--"])
        .arg(example(server[0]))
        .args(&server[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("an installed interpreter starts");
    let mut stdin = child.stdin.take().expect("stdin is piped");
    // A driver that does not read its plan has failed, and says why on stderr.
    let _ = stdin.write_all(plan.to_string().as_bytes());
    drop(stdin);
    let output = child.wait_with_output().expect("the driver ends");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{server:?}, {era}: {}\n{stderr}", output.status);
    let report: Value = serde_json::from_slice(&output.stdout).expect("the report is JSON");
    let peer = format!("{server:?}, {era}\n{stderr}");
    assert_eq!(report["complaints"], json!([]), "the client dislikes what it read: {peer}");
    // After two seconds the SDK would have killed it.
    assert!(
        report["closed_after"].as_f64().is_some_and(|seconds| seconds < 2.0),
        "the server does not end with its stdin: {peer}",
    );
    Ok(report)
}

/// Asks the example `server` for one thing in each era and compares the outcome.
#[track_caller]
fn check(server: &[&str], step: &Value, expected: impl Fn(&Value) -> bool) {
    for (era, protocol) in [("auto", "2026-07-28"), ("legacy", "2025-11-25")] {
        let report = match drive(server, era, &json!({"steps": [step]})) {
            Ok(report) => report,
            Err(missing) => return missing.skip(),
        };
        assert_eq!(report["protocol"], protocol);
        let outcome = &report["steps"][0];
        assert!(expected(outcome), "{server:?}, {era}: {step}\n{outcome:#}");
    }
}

#[test]
fn a_tool_is_called() {
    let step = json!({"do": "call", "name": "add", "arguments": {"a": 20, "b": 22}});
    check(QUICKSTART, &step, |outcome| {
        outcome["result"]["content"] == json!([{"type": "text", "text": "42"}])
            && outcome["result"]["isError"] != json!(true)
    });
}

#[test]
fn wrong_arguments_are_told_to_the_model() {
    let step = json!({"do": "call", "name": "add", "arguments": {"a": "twenty", "b": 22}});
    check(QUICKSTART, &step, |outcome| {
        outcome["result"]["isError"] == json!(true)
            && outcome["result"]["content"][0]["text"].is_string()
    });
}

#[test]
fn an_unknown_tool_is_a_protocol_error() {
    let step = json!({"do": "call", "name": "subtract"});
    check(QUICKSTART, &step, |outcome| outcome["error"]["code"] == json!(-32602));
}

#[test]
fn tools_are_listed_with_their_schemas() {
    check(QUICKSTART, &json!({"do": "tools"}), |outcome| {
        let tools = outcome["result"].as_array().into_iter().flatten();
        tools.clone().any(|tool| {
            tool["name"] == json!("add")
                && tool["inputSchema"]["required"] == json!(["a", "b"])
                && tool["inputSchema"]["properties"]["a"]["type"] == json!("integer")
        })
    });
}

#[test]
fn a_template_is_listed_and_read() {
    check(QUICKSTART, &json!({"do": "templates"}), |outcome| {
        outcome["result"][0]["uriTemplate"] == json!("users://{id}/profile")
    });
    check(QUICKSTART, &json!({"do": "read", "uri": "users://7/profile"}), |outcome| {
        outcome["result"]["contents"][0]["uri"] == json!("users://7/profile")
    });
}

#[test]
fn a_prompt_is_completed_and_got() {
    let complete =
        json!({"do": "complete", "prompt": "review", "argument": "language", "value": "p"});
    check(QUICKSTART, &complete, |outcome| outcome["result"]["values"] == json!(["python"]));
    let arguments = json!({"language": "rust", "code": "fn main() {}"});
    let get = json!({"do": "prompt", "name": "review", "arguments": arguments});
    check(QUICKSTART, &get, |outcome| {
        let text = outcome["result"]["messages"][0]["content"]["text"].as_str();
        text.is_some_and(|text| text.contains("fn main() {}"))
    });
}

#[test]
fn a_missing_prompt_argument_is_a_protocol_error() {
    let step = json!({"do": "prompt", "name": "review", "arguments": {"language": "rust"}});
    check(QUICKSTART, &step, |outcome| outcome["error"]["code"] == json!(-32602));
}

#[test]
fn progress_arrives_in_order() {
    let step = json!({"do": "call", "name": "countdown", "arguments": {"steps": 3}});
    check(QUICKSTART, &step, |outcome| {
        let progress: Vec<_> = outcome["progress"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|update| update["progress"].as_f64().unwrap_or(f64::NAN))
            .collect();
        progress.len() == 3 && progress.is_sorted()
    });
}

#[test]
fn a_cancelled_call_leaves_the_server_working() {
    let plan = json!({"steps": [
        {"do": "cancel", "name": "countdown", "arguments": {"steps": 1000}},
        {"do": "call", "name": "add", "arguments": {"a": 20, "b": 22}},
    ]});
    for era in ["auto", "legacy"] {
        let report = match drive(QUICKSTART, era, &plan) {
            Ok(report) => report,
            Err(missing) => return missing.skip(),
        };
        assert_eq!(report["steps"][0]["result"], json!({"cancelled": true, "answer": null}));
        assert_eq!(report["steps"][1]["result"]["content"][0]["text"], "42");
    }
}
