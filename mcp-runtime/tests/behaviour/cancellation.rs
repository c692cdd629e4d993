//! Cancellation: the server drops the future of the handler, notifies blocking code, and sends no response.

use std::{sync::Arc, time::Duration};

use mcp_runtime::{Builder, items, prelude::*, server, testing::TestClient};
use serde_json::{Value, json};
use tokio::sync::{Notify, mpsc};

use crate::support::{LIMIT, both_eras, connect, hold_thread, said};

/// Sender that tells the test what happens inside the handlers.
struct Diary(mpsc::UnboundedSender<&'static str>);

struct OnDrop(mpsc::UnboundedSender<&'static str>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        let _ = self.0.send("dropped");
    }
}

#[tool]
async fn forever(diary: &Diary) {
    let _guard = OnDrop(diary.0.clone());
    let _ = diary.0.send("began");
    std::future::pending::<()>().await;
}

#[tool(blocking)]
fn busy(diary: &Diary, cancel: Cancel) -> Result<()> {
    let _ = diary.0.send("began");
    while cancel.check().is_ok() {
        hold_thread(Duration::from_millis(1));
    }
    let _ = diary.0.send("stopped");
    cancel.check()
}

/// Spawns a tokio task that waits for the cancellation, because the future of the handler itself is dropped.
#[tool]
async fn hands_on(diary: State<Diary>, cancel: Cancel) {
    let kept = cancel.clone();
    tokio::spawn(async move {
        kept.cancelled().await;
        let _ = diary.0.send(if kept.is_cancelled() { "heard" } else { "lied" });
    });
    cancel.cancelled().await;
    std::future::pending::<()>().await;
}

#[prompt]
async fn forever_prompt(diary: &Diary) -> String {
    let _guard = OnDrop(diary.0.clone());
    std::future::pending().await
}

#[resource("forever://")]
async fn forever_resource(diary: &Diary) -> String {
    let _guard = OnDrop(diary.0.clone());
    std::future::pending().await
}

#[completion]
async fn forever_completion(diary: &Diary) -> Vec<String> {
    let _guard = OnDrop(diary.0.clone());
    std::future::pending().await
}

#[prompt]
fn forever_completed(#[complete(forever_completion)] text: &str) -> String {
    text.to_owned()
}

#[tool]
fn alive() -> &'static str {
    "alive"
}

fn served() -> (Builder, mpsc::UnboundedReceiver<&'static str>) {
    let (send, receive) = mpsc::unbounded_channel();
    let items =
        items![forever, busy, hands_on, forever_prompt, forever_resource, forever_completed, alive];
    (server!().items(items).state(Diary(send)), receive)
}

async fn next(diary: &mut mpsc::UnboundedReceiver<&'static str>) -> &'static str {
    tokio::time::timeout(LIMIT, diary.recv()).await.expect("something happens").unwrap_or("nothing")
}

fn request(method: &str) -> Value {
    match method {
        "tools/call" => json!({ "name": "forever" }),
        "prompts/get" => json!({ "name": "forever_prompt" }),
        "resources/read" => json!({ "uri": "forever://" }),
        _ => json!({
            "ref": { "type": "ref/prompt", "name": "forever_completed" }, "argument": { "name": "text", "value": "" },
        }),
    }
}

async fn assert_silent(client: &mut TestClient) {
    assert_eq!(
        client.receive_raw(Duration::from_millis(20)).await,
        None,
        "a cancelled call is not answered"
    );
    assert_eq!(said(client, "alive", json!({})).await, "alive");
    assert_eq!(client.in_flight(), 0);
}

both_eras! {
    async fn a_cancelled_future_is_dropped_and_not_answered(revision) {
        for method in ["tools/call", "prompts/get", "resources/read", "completion/complete"] {
            let (server, mut diary) = served();
            let mut client = connect(server, revision).await;
            let ongoing = client.start(method, request(method));
            assert_eq!(client.in_flight(), 1, "{method}");
            if method == "tools/call" {
                assert_eq!(next(&mut diary).await, "began");
            }
            client.cancel(ongoing);
            assert_eq!(next(&mut diary).await, "dropped", "{method}");
            assert_silent(&mut client).await;
            // A second cancellation comes too late and is ignored.
            client.cancel(ongoing);
            assert_silent(&mut client).await;
        }
    }

    async fn a_cancelled_future_is_dropped_under_around_too(revision) {
        let (server, mut diary) = served();
        let mut client = connect(server.around(async |call, next| next.run(call).await), revision).await;
        let ongoing = client.start("tools/call", request("tools/call"));
        assert_eq!(next(&mut diary).await, "began");
        client.cancel(ongoing);
        assert_eq!(next(&mut diary).await, "dropped");
        assert_silent(&mut client).await;
        let ongoing = client.start("tools/call", json!({ "name": "busy" }));
        assert_eq!(next(&mut diary).await, "began");
        client.cancel(ongoing);
        assert_eq!(next(&mut diary).await, "stopped");
        assert_silent(&mut client).await;
    }

    async fn blocking_code_is_notified_of_the_cancellation(revision) {
        let (server, mut diary) = served();
        let mut client = connect(server, revision).await;
        let ongoing = client.start("tools/call", json!({ "name": "busy" }));
        assert_eq!(next(&mut diary).await, "began");
        client.cancel(ongoing);
        assert_eq!(next(&mut diary).await, "stopped");
        assert_silent(&mut client).await;
    }

    async fn a_task_that_waits_for_the_cancellation_is_woken(revision) {
        let (server, mut diary) = served();
        let mut client = connect(server, revision).await;
        let ongoing = client.start("tools/call", json!({ "name": "hands_on" }));
        client.cancel(ongoing);
        assert_eq!(next(&mut diary).await, "heard");
        assert_silent(&mut client).await;
    }

    async fn only_the_named_call_is_cancelled(revision) {
        let (server, mut diary) = served();
        let mut client = connect(server, revision).await;
        let first = client.start("tools/call", request("tools/call"));
        let second = client.start("tools/call", request("tools/call"));
        assert_eq!((next(&mut diary).await, next(&mut diary).await), ("began", "began"));
        client.notify("notifications/cancelled", json!({ "requestId": 99 }));
        client.notify("notifications/cancelled", json!({ "requestId": [] }));
        client.notify("notifications/cancelled", json!({}));
        client.cancel(second);
        assert_eq!(next(&mut diary).await, "dropped");
        assert_eq!(client.in_flight(), 1);
        client.cancel(first);
        assert_eq!(next(&mut diary).await, "dropped");
        assert_silent(&mut client).await;
    }

    async fn a_client_that_disconnects_cancels_its_calls(revision) {
        let (server, mut diary) = served();
        let mut client = connect(server, revision).await;
        client.start("tools/call", request("tools/call"));
        client.start("tools/call", json!({ "name": "busy" }));
        assert_eq!((next(&mut diary).await, next(&mut diary).await), ("began", "began"));
        client.close().await;
        let mut rest = [next(&mut diary).await, next(&mut diary).await];
        rest.sort_unstable();
        assert_eq!(rest, ["dropped", "stopped"]);
    }
}

/// Waits until the test opens the gate.
#[tool]
async fn held(gate: State<Gate>) -> &'static str {
    gate.0.notified().await;
    "through"
}

struct Gate(Arc<Notify>);

both_eras! {
    async fn ids_can_be_used_again_only_after_the_answer(revision) {
        let gate = Arc::new(Notify::new());
        let mut client = connect(server!().items(items![held]).state(Gate(gate.clone())), revision).await;
        let ongoing = client.start("tools/call", json!({ "name": "held" }));
        assert_eq!(client.in_flight(), 1);
        gate.notify_one();
        assert_eq!(client.wait(ongoing).await.unwrap()["content"][0]["text"], "through");
        assert_eq!(client.in_flight(), 0);
    }
}
