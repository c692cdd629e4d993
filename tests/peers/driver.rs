//! Runs the drivers, programs that call an official client. Each reads a plan from stdin and writes a report to stdout.

use std::{
    io::Write,
    process::{Command, Stdio},
};

use serde_json::{Value, json};

/// Lets a driver carry out a plan, and returns the report. `peer` names the client in failures.
///
/// Every driver ends by itself after two minutes.
pub(crate) fn report(command: &mut Command, plan: &Value, peer: &str) -> Value {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("an installed interpreter starts");
    let mut stdin = child.stdin.take().expect("stdin is piped");
    // The error is ignored, because a driver that does not read its plan has failed and writes the reason to stderr.
    let _ = stdin.write_all(plan.to_string().as_bytes());
    drop(stdin);
    let output = child.wait_with_output().expect("the driver ends");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{peer}: {}\n{stderr}", output.status);
    let report: Value = serde_json::from_slice(&output.stdout).expect("the report is JSON");
    let said = || format!("{peer}\n{stderr}\n{report:#}");
    assert_eq!(report["complaints"], json!([]), "the client dislikes what it read: {}", said());
    assert_eq!(report["killed"], false, "the server did not end with its stdin: {}", said());
    report
}
