//! `Builder::around`: code of the author that runs around every operation of a client.

use std::sync::{Arc, Mutex, mpsc};

use mcp_runtime::{
    Builder, items,
    middleware::{Operation, Outcome},
    prelude::*,
    server,
    testing::Revision,
};
use serde_json::json;

use crate::support::{LIMIT, both_eras, connect, hold_thread, names, refused, said};

#[tool]
fn shout(text: &str) -> String {
    text.to_uppercase()
}

#[tool]
async fn later(text: &str) -> Result<String> {
    tokio::task::yield_now().await;
    Err(Error::msg(text))
}

#[tool]
fn panics() {
    panic!("hunter2")
}

#[tool]
fn secret() -> &'static str {
    "secret"
}

#[prompt]
fn ask(#[complete("a", "b")] word: &str) -> String {
    word.to_owned()
}

#[resource("around://fixed")]
fn fixed() -> &'static str {
    "f"
}

#[resource("around://{id}")]
fn templated(id: u8) -> String {
    id.to_string()
}

#[tool]
async fn reports(progress: Progress) -> u8 {
    progress.report(1);
    tokio::task::yield_now().await;
    progress.report(2);
    1
}

fn served() -> Builder {
    server!().items(items![shout, later, panics, secret, ask, fixed, templated, reports])
}

type Log = Arc<Mutex<Vec<String>>>;

/// Records each operation and its outcome in `log`.
fn logged(server: Builder, log: &Log) -> Builder {
    let log = log.clone();
    server.around(move |call, next| {
        let log = log.clone();
        async move {
            let operation = call.operation().clone();
            let who = call.context().client().name.clone();
            let outcome = next.run(call).await;
            let end = match (outcome.error(), outcome.is_tool_error()) {
                (Some(error), _) => format!("error {error}"),
                (None, true) => "tool error".to_owned(),
                (None, false) => "fine".to_owned(),
            };
            log.lock().unwrap().push(format!("{} {operation:?} {who}: {end}", operation.method()));
            outcome
        }
    })
}

both_eras! {
    async fn around_sees_the_operation_and_its_outcome(revision) {
        let log = Log::default();
        let mut client = connect(logged(served(), &log), revision).await;
        assert_eq!(said(&mut client, "shout", json!({ "text": "a" })).await, "A");
        assert_eq!(said(&mut client, "later", json!({ "text": "no" })).await, "error: no");
        assert_eq!(said(&mut client, "panics", json!({})).await, "error: the tool `panics` panicked");
        assert!(said(&mut client, "shout", json!({})).await.starts_with("error: The arguments"));
        client.tools().await.unwrap();
        client.resources().await.unwrap();
        client.templates().await.unwrap();
        client.prompts().await.unwrap();
        client.prompt("ask", json!({ "word": "w" })).await.unwrap();
        client.read("around://fixed").await.unwrap();
        client.read("around://x").await.unwrap_err();
        client.complete("ask", "word", "").await.unwrap();
        client.call("unknown", json!({})).await.unwrap_err();
        let me = "mcp-runtime-testing";
        let expected = [
            format!("tools/call CallTool(\"shout\") {me}: fine"),
            format!("tools/call CallTool(\"later\") {me}: tool error"),
            format!("tools/call CallTool(\"panics\") {me}: tool error"),
            format!("tools/call CallTool(\"shout\") {me}: tool error"),
            format!("tools/list ListTools {me}: fine"),
            format!("resources/list ListResources {me}: fine"),
            format!("resources/templates/list ListResourceTemplates {me}: fine"),
            format!("prompts/list ListPrompts {me}: fine"),
            format!("prompts/get GetPrompt(\"ask\") {me}: fine"),
            format!("resources/read ReadResource(\"around://fixed\") {me}: fine"),
            format!("resources/read ReadResource(\"around://x\") {me}: error there is no resource `around://x`"),
            format!("completion/complete Complete(\"word\") {me}: fine"),
            format!("tools/call CallTool(\"unknown\") {me}: error unknown tool `unknown`"),
        ];
        assert_eq!(*log.lock().unwrap(), expected);
    }

    async fn around_can_reject_a_call(revision) {
        let server = served().around(async |call, next| match call.operation() {
            Operation::CallTool(name) if name == "secret" => Outcome::failed(Error::code(403, "not for you")),
            Operation::ReadResource(_) => Outcome::failed(std::io::Error::other("closed")),
            _ => next.run(call).await,
        });
        let mut client = connect(server, revision).await;
        let params = json!({ "name": "secret", "arguments": {} });
        assert_eq!(refused(&mut client, "tools/call", params).await, (403, "not for you".into()));
        assert_eq!(refused(&mut client, "resources/read", json!({ "uri": "around://1" })).await, (-32603, "closed".into()));
        assert_eq!(said(&mut client, "shout", json!({ "text": "a" })).await, "A");
    }

    /// A request that passes through `around` gets exactly the same response as without it.
    async fn around_changes_nothing_by_itself(revision) {
        let mut plain = connect(served(), revision).await;
        let mut around = connect(served().around(async |call, next| next.run(call).await), revision).await;
        for (method, params) in [
            ("tools/list", json!({})),
            ("tools/list", json!({ "cursor": "wrong" })),
            ("tools/call", json!({ "name": "shout", "arguments": { "text": "é\"" } })),
            ("tools/call", json!({ "name": "shout" })),
            ("resources/list", json!({})),
            ("resources/templates/list", json!({})),
            ("resources/read", json!({ "uri": "around://7" })),
            ("prompts/list", json!({})),
            ("prompts/get", json!({ "name": "ask", "arguments": { "word": "w" } })),
            (
                "completion/complete",
                json!({ "ref": { "type": "ref/prompt", "name": "ask" }, "argument": { "name": "word", "value": "b" } }),
            ),
            (
                "completion/complete",
                json!({ "ref": { "type": "ref/resource", "uri": "around://{id}" }, "argument": { "name": "id", "value": "" } }),
            ),
        ] {
            assert_eq!(
                plain.request(method, params.clone()).await,
                around.request(method, params).await,
                "{method}"
            );
        }
        let tools = around.tools().await.unwrap();
        assert_eq!(names(&tools), names(&plain.tools().await.unwrap()));
        for client in [&mut plain, &mut around] {
            let params = json!({ "name": "reports", "_meta": { "progressToken": 1 } });
            client.request("tools/call", params).await.unwrap();
            for expected in [1, 2] {
                let report = client.notification(std::time::Duration::from_secs(5)).await.unwrap();
                assert_eq!(report["params"]["progress"], expected);
            }
        }
    }

    async fn a_panic_in_around_answers_its_own_call(revision) {
        let server = served().around(async |call, next| {
            assert!(!matches!(call.operation(), Operation::CallTool(name) if name == "secret"), "hunter2");
            next.run(call).await
        });
        let mut client = connect(server, revision).await;
        let hidden = (-32603, "internal error".to_owned());
        assert_eq!(refused(&mut client, "tools/call", json!({ "name": "secret" })).await, hidden);
        assert_eq!(said(&mut client, "shout", json!({ "text": "a" })).await, "A");
    }

    /// A closure that is not `async` runs code before it returns its future, and that code may panic too.
    async fn a_panic_before_the_future_of_around_answers_its_own_call(revision) {
        let server = served().around(|call, next| {
            assert!(!matches!(call.operation(), Operation::CallTool(name) if name == "secret"), "hunter2");
            next.run(call)
        });
        let mut client = connect(server, revision).await;
        let hidden = (-32603, "internal error".to_owned());
        assert_eq!(refused(&mut client, "tools/call", json!({ "name": "secret" })).await, hidden);
        assert_eq!(said(&mut client, "shout", json!({ "text": "a" })).await, "A");
    }
}

#[tokio::test]
async fn a_call_that_waits_in_around_does_not_delay_other_calls() {
    static LET_GO: tokio::sync::Semaphore = tokio::sync::Semaphore::const_new(0);
    let server = served().around(async |call, next| {
        if matches!(call.operation(), Operation::CallTool(name) if name == "secret") {
            LET_GO.acquire().await.expect("it is never closed").forget();
        }
        next.run(call).await
    });
    let mut client = connect(server, Revision::V2025_11_25).await;
    let slow = client.start("tools/call", json!({ "name": "secret" }));
    assert_eq!(said(&mut client, "shout", json!({ "text": "a" })).await, "A");
    assert_eq!(client.in_flight(), 1);
    LET_GO.add_permits(1);
    assert_eq!(client.wait(slow).await.unwrap()["content"][0]["text"], "secret");
}

#[test]
fn a_second_around_function_stops_the_server() {
    let server = served()
        .around(async |call, next| next.run(call).await)
        .around(async |call, next| next.run(call).await);
    let problems = crate::support::problems(server);
    assert_eq!(problems.len(), 1);
    assert!(problems[0].starts_with("`.around(…)` at "), "{problems:?}");
    assert!(problems[0].ends_with(": combine both closures into one"), "{problems:?}");
}

/// Reports a first step, and a second step when its call is cancelled.
#[tool(blocking)]
fn steps(progress: Progress, cancel: Cancel) {
    progress.report(1);
    while !cancel.is_cancelled() {
        hold_thread(std::time::Duration::from_millis(1));
    }
    progress.report(2);
}

/// Reports a second time when the test has cancelled the call, and does not check the cancellation itself.
#[tool(blocking)]
fn late(progress: Progress, cancelled: &Mutex<mpsc::Receiver<()>>) {
    progress.report(1);
    let _ = cancelled.lock().unwrap().recv();
    progress.report(2);
}

both_eras! {
    async fn progress_must_rise_over_all_senders_of_a_call(revision) {
        let around = async |call: mcp_runtime::middleware::OperationCall, next: mcp_runtime::middleware::Next| {
            if matches!(call.operation(), Operation::CallTool(_)) {
                call.context().progress().report(1);
            }
            next.run(call).await
        };
        let mut client = connect(server!().items(items![steps]).around(around), revision).await;
        let params = json!({ "name": "steps", "_meta": { "progressToken": "t" } });
        let ongoing = client.start("tools/call", params);
        let first = client.receive_raw(LIMIT).await;
        assert!(first.is_some_and(|message| String::from_utf8_lossy(&message).contains(r#""progress":1"#)));
        assert_eq!(client.receive_raw(std::time::Duration::from_millis(50)).await, None);
        client.cancel(ongoing);
        assert_eq!(client.receive_raw(std::time::Duration::from_millis(50)).await, None);
    }

    async fn a_report_after_the_cancellation_is_not_sent(revision) {
        let around = async |call: mcp_runtime::middleware::OperationCall, next: mcp_runtime::middleware::Next| {
            tokio::spawn(next.run(call)).await.unwrap_or_else(|_| Outcome::failed(Error::msg("gone")))
        };
        let (cancelled, is_cancelled) = mpsc::channel();
        let server = server!().items(items![late]).state(Mutex::new(is_cancelled)).around(around);
        let mut client = connect(server, revision).await;
        let params = json!({ "name": "late", "_meta": { "progressToken": "t" } });
        let ongoing = client.start("tools/call", params);
        let first = client.receive_raw(LIMIT).await;
        assert!(first.is_some_and(|message| String::from_utf8_lossy(&message).contains(r#""progress":1"#)));
        client.cancel(ongoing);
        cancelled.send(()).unwrap();
        assert_eq!(client.receive_raw(std::time::Duration::from_millis(150)).await, None);
    }
}
