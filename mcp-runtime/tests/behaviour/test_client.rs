//! `TestClient`: methods whose results differ between the revisions of the protocol.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use mcp_runtime::{items, prelude::*, server, testing::Revision};
use serde_json::json;

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

both_eras! {
    async fn the_first_notification_after_subscribe_is_an_update(revision) {
        let mut client = connect(server!().items(items![watched, change]), revision).await;
        client.subscribe("watched://today").await.unwrap();
        client.call("change", json!({})).await.unwrap();
        let update = client.notification(Duration::from_secs(5)).await.unwrap();
        assert_eq!(update["method"], "notifications/resources/updated");
        assert_eq!(update["params"]["uri"], "watched://today");
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
