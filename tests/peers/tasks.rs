//! Tasks, driven by the official clients that can drive them:
//!
//! | client | 2025-11-25 | 2026-07-28 |
//! |---|---|---|
//! | TypeScript client 2.x with `ext-tasks` | yes, but without questions: it gets them with `tasks/result`, after the end | yes |
//! | TypeScript SDK 1.x, `experimental.tasks` | yes | revision not supported |
//! | Python SDK 2.x | no: it rejects a result that is a task | with an extension in application code, `python_tasks.py` |
//! | Inspector's command line | tools that must be tasks; no user to ask | all tools; no user to ask |
//!
//! All other clients can call only tools that do not require a task, in the usual way. The same is true for the clients above if they do
//! not declare tasks.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use support::requirement::{Missing, needs};

use crate::{
    inspector, python,
    python::{failure, text},
    server::Server,
    typescript,
};

const CORE: &str = "2025-11-25";
const EXTENSION: &str = "2026-07-28";

/// A tool, its arguments, and the expected end: a text, a failure, an error code, or a cancellation.
type Row = (&'static str, Value, Result<&'static str, End>);

enum End {
    Failure(&'static str),
    Error(i64),
    Cancelled,
}

fn slow(seconds: f64) -> Value {
    json!({ "seconds": seconds, "label": "it" })
}

/// Returns tasks that do not ask the user.
fn quiet() -> Vec<Row> {
    vec![
        ("slow_compute", slow(0.3), Ok("it took 0.3 s")),
        ("failing_job", json!({}), Err(End::Failure("The job has failed, as it always does."))),
        ("protocol_error_job", json!({}), Err(End::Error(-31_000))),
        ("slow_compute", slow(600.0), Err(End::Cancelled)),
    ]
}

/// Returns tasks that ask the user while they run. In 2026-07-28, the last tool asks before its call becomes a task.
fn asking() -> Vec<Row> {
    vec![
        ("confirm_delete", json!({ "filename": "x" }), Ok("x is deleted")),
        ("multi_input", json!({}), Ok("Ada, then Ada")),
        ("test_tool_with_task", json!({}), Ok("The work for Ada is done.")),
    ]
}

const QUESTIONS: [&str; 4] =
    ["Delete x?", "Who is the first?", "Who is the second?", "What is your name?"];

fn person() -> Value {
    json!({ "knows": { "confirm": true, "name": "Ada" } })
}

fn step(kind: &str, (tool, arguments, end): &Row) -> Value {
    let cancel = matches!(end, Err(End::Cancelled));
    json!({ "do": kind, "name": tool, "arguments": arguments, "cancel": cancel })
}

/// Checks the report about a task, from a client that uses the dialect of this revision.
#[track_caller]
fn check_task(seen: &Value, (tool, _, end): &Row, revision: &str, client: &str) {
    let shown = || format!("{client}, {revision}, {tool}\n{seen:#}");
    let outcome = &seen["result"];
    assert_eq!(outcome["kind"], "task", "{}", shown());
    let statuses: Vec<_> =
        outcome["statuses"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    assert_eq!(statuses.first(), Some(&"working"), "{}", shown());
    let asks = asking().iter().any(|row| row.0 == *tool);
    let asks_meanwhile = asks && (revision == CORE || *tool != "test_tool_with_task");
    assert_eq!(statuses.contains(&"input_required"), asks_meanwhile, "{}", shown());
    let status = match end {
        Ok(_) => "completed",
        Err(End::Failure(_)) if revision == CORE => "failed",
        Err(End::Failure(_)) => "completed",
        Err(End::Error(_)) => "failed",
        Err(End::Cancelled) => "cancelled",
    };
    assert_eq!(outcome["status"], status, "{}", shown());
    match end {
        Ok(expected) => assert_eq!(text(outcome), Some(*expected), "{}", shown()),
        // In 2025-11-25 these clients do not request the result of a failed task, so only its status message is there.
        Err(End::Failure(expected)) if revision == CORE => {
            assert_eq!(outcome["task"]["statusMessage"], *expected, "{}", shown());
        }
        Err(End::Failure(expected)) => assert_eq!(failure(outcome), Some(*expected), "{}", shown()),
        Err(End::Error(_)) if revision == CORE => {
            let message = &outcome["task"]["statusMessage"];
            assert_eq!(message, "The job cannot be done.", "{}", shown());
        }
        Err(End::Error(code)) => assert_eq!(outcome["error"]["code"], *code, "{}", shown()),
        Err(End::Cancelled) => assert!(outcome.get("result").is_none(), "{}", shown()),
    }
}

#[track_caller]
fn check_typescript(server: &Server, client: &str, revision: &str, rows: &[Row]) {
    let mut steps: Vec<_> = rows.iter().map(|row| step("task", row)).collect();
    steps.push(json!({ "do": "tasks" }));
    let plan = json!({ "elicitation": person(), "steps": steps });
    let report = needs(typescript::look_after(server, client, revision, plan));
    assert_eq!(report["protocol"], revision, "{report:#}");
    let outcomes = report["steps"].as_array().expect("one outcome for each step");
    assert_eq!(outcomes.len(), rows.len() + 1);
    for (outcome, row) in outcomes.iter().zip(rows) {
        check_task(outcome, row, revision, client);
    }
    let asks = rows.iter().any(|row| row.0 == "multi_input");
    assert_eq!(report["asked"], if asks { json!(QUESTIONS) } else { json!([]) }, "{report:#}");
    // There is no list in two cases: over HTTP without authorization, where the server cannot tell which tasks belong to a client, and in
    // 2026-07-28, which has no method for it.
    let listed = &outcomes[rows.len()];
    if server.is_http() || revision == EXTENSION {
        assert!(listed.get("result").is_none(), "{listed:#}");
        return;
    }
    let made =
        outcomes[..rows.len()].iter().map(|outcome| outcome["result"]["task"]["taskId"].as_str());
    let listed = listed["result"].as_array().expect("a list").iter().map(Value::as_str);
    assert_eq!(listed.collect::<BTreeSet<_>>(), made.collect::<BTreeSet<_>>());
}

/// Lets TypeScript carry out tasks with and without questions, in the newer dialect.
#[track_caller]
pub(crate) fn check_newer_dialect(server: &Server) {
    let mut rows = quiet();
    rows.extend(asking());
    check_typescript(server, "client", EXTENSION, &rows);
}

/// Lets the older TypeScript carry out tasks with and without questions, in the older dialect.
#[track_caller]
pub(crate) fn check_older_dialect(server: &Server) {
    let mut rows = quiet();
    rows.extend(asking());
    check_typescript(server, "sdk", CORE, &rows);
}

#[support::test]
fn typescript_follows_tasks_of_the_newer_dialect() {
    for server in [Server::new("everything"), Server::over_http("everything")] {
        check_newer_dialect(&server);
    }
}

#[support::test]
fn typescript_follows_tasks_of_the_older_dialect() {
    for server in [Server::new("everything"), Server::over_http("everything")] {
        check_typescript(&server, "client", CORE, &quiet());
    }
}

#[support::test]
fn the_older_typescript_follows_tasks() {
    for server in [Server::new("everything"), Server::over_http("everything")] {
        check_older_dialect(&server);
    }
}

/// Lets Python carry out tasks with and without questions.
#[track_caller]
pub(crate) fn check_python(server: &Server) {
    let mut rows = quiet();
    rows.retain(|row| !matches!(row.2, Err(End::Cancelled)));
    rows.extend(asking());
    let steps: Vec<_> = rows.iter().map(|row| step("call", row)).collect();
    let plan = json!({ "elicitation": person(), "tasks": true, "steps": steps });
    let report = needs(python::carry_out(server, "auto", plan));
    assert_eq!(report["protocol"], EXTENSION, "{report:#}");
    let outcomes = report["steps"].as_array().expect("one outcome for each step");
    for (outcome, (tool, _, end)) in outcomes.iter().zip(&rows) {
        let is_right = match end {
            Ok(expected) => text(outcome) == Some(*expected),
            Err(End::Failure(expected)) => failure(outcome) == Some(*expected),
            Err(End::Error(code)) => outcome["error"]["code"] == *code,
            Err(End::Cancelled) => false,
        };
        assert!(is_right, "{tool}\n{outcome:#}");
    }
    let statuses = report["tasks"].as_array().expect("what was looked after");
    assert_eq!(statuses.len(), rows.len(), "{report:#}");
    let asked = report["asked"].as_array().expect("what was asked").iter();
    let asked: Vec<_> = asked.map(|question| question["elicitation"]["message"].clone()).collect();
    assert_eq!(asked, QUESTIONS, "{report:#}");
}

#[support::test]
fn python_follows_tasks_with_an_extension() {
    for server in [Server::new("everything"), Server::over_http("everything")] {
        check_python(&server);
    }
}

/// The Inspector itself decides which calls become tasks. In both dialects it begins a task for a tool that requires one, and waits for
/// the end of the task.
#[support::test]
fn the_inspector_waits_for_tasks() {
    for server in [Server::new("everything"), Server::over_http("everything")] {
        let slow = inspector::call("slow_compute", r#"{"seconds": 0.2, "label": "it"}"#);
        inspector::check(&server, &slow, 0, |answer| {
            answer.result["content"][0]["text"] == "it took 0.2 s"
        });
        let failing = inspector::call("failing_job", "{}");
        inspector::check_eras(&server, &failing, [1, 5], |answer| {
            // In 2025-11-25 a failed task has no result, so the text is on stderr.
            let text = &answer.result["content"][0]["text"];
            let told = text.as_str().unwrap_or(&answer.stderr);
            told.contains("The job has failed, as it always does.")
        });
    }
}

/// A client that does not declare tasks waits for the answer, or gets an error if the tool runs only as a task.
#[support::test]
fn clients_without_tasks_call_tools_as_usual() {
    let plan = json!({ "elicitation": person(), "steps": [
        { "do": "call", "name": "slow_compute", "arguments": slow(0.2) },
        { "do": "call", "name": "confirm_delete", "arguments": { "filename": "x" } },
        { "do": "call", "name": "failing_job" },
    ] });
    let check = |report: Result<Value, Missing>, revision: &str| {
        let report = needs(report);
        assert_eq!(report["protocol"], revision, "{report:#}");
        let [slow, asks, must] = [0, 1, 2].map(|at| &report["steps"][at]);
        assert_eq!(text(slow), Some("it took 0.2 s"), "{report:#}");
        if revision < "2025-06-18" {
            assert!(
                failure(asks).is_some_and(|error| error.contains("the client speaks")),
                "{report:#}"
            );
        } else {
            assert_eq!(text(asks), Some("x is deleted"), "{report:#}");
        }
        let code = if revision == EXTENSION { -32021 } else { -32601 };
        assert_eq!(must["error"]["code"], code, "{report:#}");
    };
    for server in [Server::new("everything"), Server::over_http("everything")] {
        check(python::carry_out(&server, "auto", plan.clone()), EXTENSION);
        check(python::carry_out(&server, "legacy", plan.clone()), CORE);
        for revision in [EXTENSION, CORE, "2025-06-18", "2025-03-26", "2024-11-05"] {
            check(typescript::carry_out(&server, "client", revision, plan.clone()), revision);
        }
        check(typescript::carry_out(&server, "sdk", "auto", plan.clone()), CORE);
    }
    let http = Server::over_http("everything");
    check(typescript::carry_out(&http, "sdk-sse", "auto", plan.clone()), CORE);
}
