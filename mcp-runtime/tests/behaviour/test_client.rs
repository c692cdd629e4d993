//! `TestClient`: methods whose results differ between the revisions of the protocol.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use mcp_runtime::{
    items,
    prelude::*,
    server,
    testing::{Revision, TestClient},
};
use serde_json::json;
use tokio::sync::Notify;

use crate::support::{both_eras, both_eras_paused, connect};

/// Notes of today.
#[resource("watched://today", subscribe)]
fn watched() -> &'static str {
    "Buy milk"
}

/// Picture of the notes.
#[resource("watched://picture")]
fn picture() -> Blob {
    Blob::new([0, 255])
}

/// Notes of last year.
#[resource("unwatched://year")]
fn unwatched() -> &'static str {
    "Buy a house"
}

/// Reports that the notes have changed.
#[tool]
fn change(handle: Handle) {
    handle.updated("watched://today");
}

/// Whether a handler is running.
#[derive(Clone, Default)]
struct Running(Arc<AtomicBool>);

impl Running {
    fn is_set(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.0.store(false, Ordering::SeqCst);
    }
}

struct Guard(Running);

/// Runs until it is dropped.
#[tool(task)]
async fn run(running: &Running) {
    running.0.store(true, Ordering::SeqCst);
    let _guard = Guard(running.clone());
    std::future::pending().await
}

/// Answers at once.
#[tool(task)]
async fn hello() -> &'static str {
    "hello"
}

/// Permission for a handler to go on.
#[derive(Clone, Default)]
struct Ready(Arc<Notify>);

/// A part with a name.
#[resource("slow://{name}")]
async fn slow_part(ready: &Ready, name: &str) -> String {
    ready.0.notified().await;
    name.to_owned()
}

#[form]
struct Consent {
    go: bool,
}

/// Asks for consent.
#[tool]
async fn scrap(ctx: &Context) -> Result<String> {
    let consent: Consent = ctx.elicit("confirm", "Scrap it?").await?;
    Ok(consent.go.to_string())
}

/// Asks for directories.
#[tool]
async fn look(roots: Roots) -> Result<usize> {
    Ok(roots.list().await?.len())
}

both_eras! {
    async fn the_first_notification_after_subscribe_is_an_update(revision) {
        let mut client = connect(server!().items(items![watched, change]), revision).await;
        client.subscribe("watched://today").await.unwrap();
        client.call("change", json!({})).await.unwrap();
        let update = client.notification(Duration::from_secs(5)).await.unwrap();
        assert_eq!(update["method"], "notifications/resources/updated");
        assert_eq!(update["params"]["uri"], "watched://today");
    }

    async fn a_question_without_answer_with_is_reported_at_once(revision) {
        let can = json!({ "elicitation": {}, "roots": {} });
        let server = server!().items(items![scrap, look, hello]);
        let mut client = TestClient::connect_capable(server, revision, can).await.unwrap();
        let is_modern = revision == Revision::V2026_07_28;
        for (tool, legacy, modern) in [
            ("scrap", "`elicitation/create`: Scrap it?", "`confirm`: Scrap it?"),
            ("look", "`roots/list`", "`client_roots` (roots/list)"),
        ] {
            let error = client.call(tool, json!({})).await.unwrap_err();
            let question = if is_modern { modern } else { legacy };
            let says = format!("the server asks questions, but `answer_with` was not called: {question}");
            assert_eq!((error.code, error.message), (0, says));
        }
        // The next request is not about these questions.
        assert_eq!(client.call("hello", json!({})).await.unwrap().text(), "hello");
    }

    async fn subscribe_fails_if_no_resource_has_subscriptions(revision) {
        let mut client = connect(server!().items(items![unwatched]), revision).await;
        client.subscribe("unwatched://year").await.unwrap_err();
        assert!(client.notification(Duration::from_millis(1)).await.is_none());
    }
}

both_eras_paused! {
    async fn wait_returns_after_cancel_when_the_handler_is_dropped(revision) {
        let running = Running::default();
        let mut client = connect(server!().items(items![run]).state(running.clone()), revision).await;
        let call = client.start("tools/call", json!({ "name": "run" }));
        assert!(running.is_set());
        client.cancel(call);
        let waited = tokio::time::timeout(Duration::from_secs(1), client.wait(call)).await;
        let error = waited.expect("the client waits for no answer").unwrap_err();
        assert_eq!((error.code, &*error.message), (0, "the request was cancelled"));
        assert!(!running.is_set());
    }

    async fn cancel_task_returns_when_the_handler_is_dropped(revision) {
        let running = Running::default();
        let mut client = connect(server!().items(items![run]).state(running.clone()), revision).await;
        let task = client.begin_task("run", json!({})).await.unwrap();
        assert_eq!(client.task_status(&task).await.unwrap(), "working");
        assert!(running.is_set());
        client.cancel_task(&task).await.unwrap();
        assert!(!running.is_set());
        assert_eq!(client.task_status(&task).await.unwrap(), "cancelled");
        let is_error = client.cancel_task(&task).await.is_err();
        assert_eq!(is_error, revision == Revision::V2025_11_25);
    }

    async fn a_request_without_an_answer_is_named_with_its_item(revision) {
        let ready = Ready::default();
        let server = server!().items(items![run, slow_part]).state(Running::default());
        let mut client = connect(server.state(ready.clone()), revision).await;
        let fix = "and no other message, within 10 s: for longer work use `start`, let the time pass, and `wait`";
        let error = client.call("run", json!({})).await.unwrap_err();
        assert_eq!(error.message, format!("no answer to `tools/call` of `run`, {fix}"));
        let error = client.read("slow://saddle").await.unwrap_err();
        assert_eq!(error.message, format!("no answer to `resources/read` of `slow://saddle`, {fix}"));
        // The client may wait again for a request that `start` has sent.
        let read = client.start("resources/read", json!({ "uri": "slow://saddle" }));
        ready.0.notify_waiters();
        assert_eq!(client.wait(read).await.unwrap()["contents"][0]["text"], "saddle");
    }

    async fn wait_returns_a_result_that_was_there_before_cancel(revision) {
        let mut client = connect(server!().items(items![hello]), revision).await;
        let call = client.start("tools/call", json!({ "name": "hello" }));
        client.cancel(call);
        assert_eq!(client.wait(call).await.unwrap()["content"][0]["text"], "hello");
    }
}

/// Under some revisions the call of `hello` becomes no task.
#[tokio::test]
async fn a_task_that_ends_at_once_is_finished_like_any_other() {
    for revision in Revision::ALL {
        let mut client = connect(server!().items(items![hello]), revision).await;
        let task = client.begin_task("hello", json!({})).await.unwrap();
        assert_eq!(client.task_status(&task).await.unwrap(), "completed", "{revision}");
        assert_eq!(client.finish_task(&task).await.unwrap().text(), "hello", "{revision}");
        assert!(client.cancel_task(&task).await.is_err(), "{revision}");
    }
}

#[tokio::test]
async fn contents_have_a_text_or_bytes() {
    let mut client = connect(server!().items(items![watched, picture]), Revision::ALL[0]).await;
    let text = client.read("watched://today").await.unwrap();
    assert_eq!((text[0].text(), &*text[0].bytes()), ("Buy milk", &b"Buy milk"[..]));
    let bytes = client.read("watched://picture").await.unwrap();
    assert_eq!((bytes[0].text(), &*bytes[0].bytes()), ("", &[0, 255][..]));
}

#[tokio::test(start_paused = true)]
async fn wait_returns_after_the_cancellation_of_a_stream() {
    let server = server!().items(items![watched]);
    let mut client = connect(server, Revision::V2026_07_28).await;
    let stream = client.subscribe("watched://today").await.unwrap().unwrap();
    client.cancel(stream);
    assert_eq!(client.wait(stream).await.unwrap_err().message, "the request was cancelled");
}

/// A test may also answer a question itself, with the message that `notification` has returned.
#[tokio::test]
async fn a_question_that_a_test_answers_itself_is_no_error() {
    let can = json!({ "elicitation": {} });
    let server = server!().items(items![scrap, hello]);
    let mut client = TestClient::connect_capable(server, Revision::V2025_11_25, can).await.unwrap();
    let call = client.start("tools/call", json!({ "name": "scrap" }));
    // Another request does not fail because of the question, which stays in the list of messages.
    assert_eq!(client.call("hello", json!({})).await.unwrap().text(), "hello");
    let question = client.notification(Duration::from_secs(5)).await.unwrap();
    let answer = json!({ "action": "accept", "content": { "go": true } });
    let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": answer });
    client.send_raw(answer.to_string().as_bytes());
    assert_eq!(client.wait(call).await.unwrap()["content"][0]["text"], "true");
}
