//! Timeouts of calls, set on an item or for the whole server. The tests run on tokio's paused clock.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use mcp_runtime::{Builder, items, prelude::*, server};
use serde_json::json;

use crate::support::{
    both_eras, both_eras_paused, connect, eventually, hold_thread, pass, refused, said,
};

#[tool(timeout = "30s")]
async fn waits(seconds: u64) -> &'static str {
    pass(Duration::from_secs(seconds)).await;
    "done"
}

#[tool]
async fn waits_without(seconds: u64) -> &'static str {
    pass(Duration::from_secs(seconds)).await;
    "done"
}

#[prompt(timeout = "500ms")]
async fn waiting_prompt() -> &'static str {
    std::future::pending().await
}

#[resource("waiting://", timeout = "1m")]
async fn waiting_resource() -> &'static str {
    std::future::pending().await
}

#[completion(timeout = "2s")]
async fn waiting_completion() -> Vec<String> {
    std::future::pending().await
}

#[prompt]
fn waiting_completed(#[complete(waiting_completion)] text: &str) -> String {
    text.to_owned()
}

struct OnDrop<'a>(&'a AtomicBool);

impl Drop for OnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

#[tool(timeout = "1s")]
async fn cleans_up(dropped: &AtomicBool) {
    let _guard = OnDrop(dropped);
    std::future::pending::<()>().await;
}

#[tool]
fn is_clean(dropped: &AtomicBool) -> bool {
    dropped.load(Ordering::Acquire)
}

fn served() -> Builder {
    let items = items![
        waits,
        waits_without,
        waiting_prompt,
        waiting_resource,
        waiting_completed,
        cleans_up,
        is_clean
    ];
    server!().items(items).state(AtomicBool::new(false))
}

both_eras_paused! {
    async fn a_tool_that_takes_too_long_is_given_up(revision) {
        let mut client = connect(served(), revision).await;
        assert_eq!(said(&mut client, "waits", json!({ "seconds": 5 })).await, "done");
        // The test client waits at most ten seconds for a response, so the first 29 seconds pass before it starts to wait.
        let ongoing = client.start("tools/call", json!({ "name": "waits", "arguments": { "seconds": 31 } }));
        pass(Duration::from_secs(29)).await;
        assert_eq!(client.in_flight(), 1);
        let result = client.wait(ongoing).await.unwrap();
        assert_eq!(result["isError"], true);
        assert_eq!(result["content"][0]["text"], "the tool `waits` took longer than 30s and was given up");
        assert_eq!(client.in_flight(), 0);
    }

    async fn a_timeout_drops_the_future(revision) {
        let mut client = connect(served(), revision).await;
        let text = "error: the tool `cleans_up` took longer than 1s and was given up";
        assert_eq!(said(&mut client, "cleans_up", json!({})).await, text);
        assert_eq!(said(&mut client, "is_clean", json!({})).await, "true");
    }

    async fn prompts_resources_and_completions_time_out_too(revision) {
        let mut client = connect(served(), revision).await;
        let text = "the prompt `waiting_prompt` took longer than 500ms and was given up";
        assert_eq!(refused(&mut client, "prompts/get", json!({ "name": "waiting_prompt" })).await, (-32603, text.into()));
        let text = "the completion `waiting_completion` took longer than 2s and was given up";
        let params = json!({
            "ref": { "type": "ref/prompt", "name": "waiting_completed" }, "argument": { "name": "text", "value": "" },
        });
        assert_eq!(refused(&mut client, "completion/complete", params).await, (-32603, text.into()));
        let ongoing = client.start("resources/read", json!({ "uri": "waiting://" }));
        pass(Duration::from_secs(59)).await;
        let error = client.wait(ongoing).await.unwrap_err();
        assert_eq!(error.message, "the resource `waiting_resource` took longer than 60s and was given up");
    }

    async fn the_timeout_of_the_server_applies_to_items_without_one(revision) {
        let mut client = connect(served().timeout(Duration::from_secs(1)), revision).await;
        assert_eq!(said(&mut client, "waits", json!({ "seconds": 5 })).await, "done");
        let text = "error: the tool `waits_without` took longer than 1s and was given up";
        assert_eq!(said(&mut client, "waits_without", json!({ "seconds": 5 })).await, text);
        let mut client = connect(served(), revision).await;
        assert_eq!(said(&mut client, "waits_without", json!({ "seconds": 9 })).await, "done");
    }
}

#[tool(blocking, timeout = "20ms")]
fn blocks(cancel: Cancel, dropped: &AtomicBool) {
    while !cancel.is_cancelled() {
        hold_thread(Duration::from_millis(1));
    }
    dropped.store(true, Ordering::Release);
}

both_eras! {
    async fn a_blocking_call_that_times_out_is_answered_and_cancelled(revision) {
        let server = server!().items(items![blocks, is_clean]).state(AtomicBool::new(false));
        let mut client = connect(server, revision).await;
        let text = "error: the tool `blocks` took longer than 20ms and was given up";
        assert_eq!(said(&mut client, "blocks", json!({})).await, text);
        eventually("the blocking call is told", async || {
            said(&mut client, "is_clean", json!({})).await == "true"
        })
        .await;
    }
}
