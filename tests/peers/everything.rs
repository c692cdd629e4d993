//! Runs the same steps with every client over HTTP, and with some clients over stdio, so that differences between the clients become
//! visible.

use serde_json::{Value, json};
use support::requirement::{Missing, needs};

use crate::{
    inspector, python,
    python::{failure, text},
    server::Server,
    typescript,
};

/// A step, and the check of its outcome.
type Row = (Value, fn(&Value) -> bool);

fn call(tool: &str) -> Value {
    json!({"do": "call", "name": tool})
}

/// Returns steps that all clients can carry out in every revision.
fn everything() -> Vec<Row> {
    let arguments = json!({"arg1": "testValue1", "arg2": "testValue2"});
    let greet = json!({"do": "call", "name": "greet", "arguments": {"name": "Ada"}});
    vec![
        (json!({"do": "tools"}), |outcome| outcome["result"][0]["name"] == "test_simple_text"),
        (json!({"do": "resources"}), |outcome| {
            outcome["result"][0]["uri"] == "test://static-binary"
        }),
        (json!({"do": "templates"}), |outcome| {
            outcome["result"][0]["uriTemplate"] == "test://template/{id}/data"
        }),
        (json!({"do": "prompts"}), |outcome| {
            outcome["result"].as_array().is_some_and(|prompts| prompts.len() == 5)
        }),
        (greet.clone(), |outcome| text(outcome) == Some("Hello, Ada!")),
        (call("test_multiple_content_types"), |outcome| {
            let content = &outcome["result"]["content"];
            let kinds = [&content[0]["type"], &content[1]["type"], &content[2]["type"]];
            kinds == ["text", "image", "resource"]
        }),
        (call("test_error_handling"), |outcome| failure(outcome).is_some()),
        (call("test_nothing"), |outcome| outcome["error"]["code"] == -32602),
        (call("test_tool_with_progress"), |outcome| {
            let progress = outcome["progress"].as_array().into_iter().flatten();
            let done: Vec<_> = progress.filter_map(|report| report["progress"].as_f64()).collect();
            done == [0.0, 50.0, 100.0] && text(outcome).is_some()
        }),
        (call("test_reconnection"), |outcome| {
            text(outcome) == Some("The answer was worth coming back for.")
        }),
        (
            // Over HTTP, clients of protocol revision 2026-07-28 repeat the argument in a header. A header cannot contain this text, so the
            // client has to encode it.
            json!({"do": "call", "name": "test_custom_header", "arguments": {"value": "Grüße, 世界"}}),
            |outcome| text(outcome) == Some("The value is Grüße, 世界."),
        ),
        (json!({"do": "read", "uri": "test://template/123/data"}), |outcome| {
            let text = outcome["result"]["contents"][0]["text"].as_str();
            text.is_some_and(|text| text.contains("123"))
        }),
        (json!({"do": "read", "uri": "test://static-binary"}), |outcome| {
            outcome["result"]["contents"][0]["blob"].is_string()
        }),
        (json!({"do": "read", "uri": "test://nothing"}), |outcome| {
            outcome["error"]["code"].is_i64()
        }),
        (
            json!({"do": "prompt", "name": "test_prompt_with_arguments", "arguments": arguments}),
            |outcome| {
                let text = outcome["result"]["messages"][0]["content"]["text"].as_str();
                text.is_some_and(|text| text.contains("testValue1") && text.contains("testValue2"))
            },
        ),
        (
            json!({
                "do": "complete", "prompt": "test_prompt_with_arguments",
                "argument": "arg1", "value": "test",
            }),
            |outcome| outcome["result"]["values"] == json!(["testValue1", "testing"]),
        ),
        (
            json!({
                "do": "watch", "uri": "test://watched-resource",
                "trigger": call("touch_watched_resource"),
            }),
            |outcome| outcome["result"]["updated"] == "test://watched-resource",
        ),
        (
            json!({"do": "hear", "list": "tools", "trigger": call("test_trigger_tool_change")}),
            |outcome| outcome["result"]["changed"] == "tools",
        ),
        (
            json!({"do": "hear", "list": "prompts", "trigger": call("test_trigger_prompt_change")}),
            |outcome| outcome["result"]["changed"] == "prompts",
        ),
        (
            json!({"do": "log", "name": "test_tool_with_logging", "level": "info", "count": 3}),
            |outcome| outcome["result"][2]["data"] == "Tool execution completed",
        ),
        (json!({"do": "cancel", "name": "test_tool_with_progress"}), |outcome| {
            outcome["result"]["cancelled"] == true
                && outcome["progress"].as_array().is_some_and(|reports| reports.len() == 1)
        }),
        // Checks that the connection still works after the cancelled call.
        (greet, |outcome| text(outcome) == Some("Hello, Ada!")),
    ]
}

#[track_caller]
fn check(rows: Vec<Row>, protocol: &str, drive: impl FnOnce(&[Value]) -> Result<Value, Missing>) {
    let (steps, expected): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
    let report = needs(drive(&steps));
    assert_eq!(report["protocol"], protocol, "{report:#}");
    let outcomes = report["steps"].as_array().expect("one outcome for each step");
    assert_eq!(outcomes.len(), steps.len());
    for ((step, outcome), is_right) in steps.iter().zip(outcomes).zip(expected) {
        assert!(is_right(outcome), "{step}\n{outcome:#}");
    }
}

/// Lets Python carry out all steps.
#[track_caller]
pub(crate) fn check_python(server: &Server, era: &str, protocol: &str) {
    check(everything(), protocol, |steps| python::drive(server, era, steps));
}

#[support::test]
fn python_speaks_sse() {
    check_python(&Server::over_http("everything"), "sse", "2025-11-25");
}

/// Lets TypeScript carry out all steps.
#[track_caller]
pub(crate) fn check_typescript_at(server: &Server, client: &str, version: &str, protocol: &str) {
    check(everything(), protocol, |steps| typescript::drive(server, client, version, steps));
}

#[track_caller]
fn check_typescript(client: &str, version: &str, protocol: &str) {
    check_typescript_at(&Server::over_http("everything"), client, version, protocol);
}

#[support::test]
fn stdio_gives_the_same_outcomes_as_http() {
    let server = Server::new("everything");
    check_python(&server, "auto", "2026-07-28");
    check_python(&server, "legacy", "2025-11-25");
    inspector::list(&server);
}

#[support::test]
fn python_finds_the_modern_era() {
    check_python(&Server::over_http("everything"), "auto", "2026-07-28");
}

/// The client ends its session with a DELETE, and complains about any status except 200, 204 and 405.
#[support::test]
fn python_opens_and_ends_a_session() {
    check_python(&Server::over_http("everything"), "legacy", "2025-11-25");
}

#[support::test]
fn typescript_finds_the_modern_era() {
    check_typescript("client", "auto", "2026-07-28");
}

#[support::test]
fn typescript_insists_on_the_modern_era() {
    check_typescript("client", "2026-07-28", "2026-07-28");
}

#[support::test]
fn typescript_opens_a_session_of_any_revision() {
    for version in ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] {
        check_typescript("client", version, version);
    }
}

#[support::test]
fn the_older_typescript_opens_a_session() {
    check_typescript("sdk", "auto", "2025-11-25");
}

#[support::test]
fn the_older_typescript_speaks_sse() {
    check_typescript("sdk-sse", "auto", "2025-11-25");
}

/// All open sessions are notified of a change, and no session gets messages about the calls of another session.
#[support::test]
fn clients_share_one_server() {
    let server = Server::over_http("everything");
    let (first, second) = (&server, &server);
    std::thread::scope(|scope| {
        let legacy = scope.spawn(|| {
            check(everything(), "2025-11-25", |steps| {
                typescript::drive(first, "sdk", "auto", steps)
            })
        });
        let modern = scope.spawn(|| {
            check(everything(), "2026-07-28", |steps| python::drive(second, "auto", steps))
        });
        // The payload says whether a client is missing.
        for client in [legacy, modern] {
            client.join().unwrap_or_else(|payload| std::panic::resume_unwind(payload));
        }
    });
}

#[support::test]
fn the_inspector_calls_reads_and_gets() {
    let server = Server::over_http("everything");
    inspector::list(&server);
    let greet = inspector::call("greet", r#"{"name": "Ada"}"#);
    inspector::check(&server, &greet, 0, |answer| {
        answer.result["content"][0]["text"] == "Hello, Ada!"
    });
    let failing = inspector::call("test_error_handling", "{}");
    inspector::check(&server, &failing, 5, |answer| answer.stderr.contains("tool_is_error"));
    let read = ["--method", "resources/read", "--uri", "test://template/123/data"];
    inspector::check(&server, &read, 0, |answer| {
        answer.result["contents"][0]["uri"] == "test://template/123/data"
    });
    let get = ["--method", "prompts/get", "--prompt-name", "test_simple_prompt"];
    inspector::check(&server, &get, 0, |answer| {
        answer.result["messages"][0]["content"]["type"] == "text"
    });
}
