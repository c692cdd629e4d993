//! Tasks in unusual situations, such as a server that ends, a tool that is removed, or a store that is slow or full.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use mcp_runtime::{
    Builder, items,
    limits::Limits,
    prelude::*,
    server,
    store::{Follower, MemoryStore, Store, StoreFuture, Transaction, TransactionResult},
    testing::TestClient,
};
use serde_json::{Value, json};

use super::{
    V4, V5, begin, connect_to, create, everything, get, pause, unfinished_count, writes_a_task,
};

#[form]
struct Word {
    word: String,
}

/// Record of what happened to the handlers.
#[derive(Default)]
struct Seen {
    ends: AtomicUsize,
    flag: AtomicBool,
}

#[tool(task)]
async fn sleeps(seconds: u64, seen: &Arc<Seen>) -> String {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    seen.ends.fetch_add(1, Ordering::SeqCst);
    format!("{seconds} s")
}

#[tool(task)]
async fn ready() -> &'static str {
    "ready"
}

#[tool(task)]
async fn much(bytes: usize) -> String {
    tokio::time::sleep(Duration::from_secs(1)).await;
    "x".repeat(bytes)
}

#[tool(task)]
async fn asks_a_word(ctx: &Context) -> Result<String> {
    tokio::time::sleep(Duration::from_secs(1)).await;
    let answer: Word = ctx.elicit("word", "Word?").await?;
    Ok(answer.word)
}

#[tool(task, asks(elicitation))]
async fn must_ask(ctx: &Context) -> Result<String> {
    let answer: Word = ctx.elicit("word", "Word?").await?;
    Ok(answer.word)
}

#[tool(task(later))]
async fn begins_after(seconds: u64, ctx: &Context, progress: Progress) -> &'static str {
    progress.say(1, "before");
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    ctx.begin_task().await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    "after"
}

/// Spawns code that calls `begin_task` after the call has ended.
#[tool(task(later))]
async fn leaves_behind(ctx: &Context, seen: &Arc<Seen>) -> &'static str {
    let (ctx, seen) = (ctx.clone(), seen.clone());
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(5)).await;
        ctx.begin_task().await;
        seen.flag.store(true, Ordering::SeqCst);
    });
    tokio::time::sleep(Duration::from_secs(1)).await;
    "left"
}

/// Calls `begin_task` while an elicitation of the call is unanswered.
#[tool(task(later))]
async fn begins_beside_a_question(ctx: &Context) -> Result<String> {
    let (word, done) = tokio::join!(
        ctx.elicit::<Word>("word", "Word?"),
        ctx.once("work", async || {
            ctx.begin_task().await;
            tokio::time::sleep(Duration::from_secs(1)).await;
            Ok::<_, Error>("done".to_owned())
        })
    );
    Ok(format!("{} {}", word?.word, done?))
}

fn edges(seen: &Arc<Seen>) -> Builder {
    server!().state(seen.clone()).items(items![
        sleeps,
        ready,
        much,
        asks_a_word,
        must_ask,
        begins_after,
        leaves_behind,
        begins_beside_a_question
    ])
}

pub(super) fn capable() -> Value {
    json!({ "elicitation": {}, "extensions": { "io.modelcontextprotocol/tasks": {} } })
}

fn accept(word: &str) -> Value {
    json!({ "action": "accept", "content": { "word": word } })
}

#[tokio::test(start_paused = true)]
async fn an_ended_task_does_not_keep_the_state_alive() {
    for revision in [V4, V5] {
        let seen = Arc::new(Seen::default());
        let mut client = connect_to(edges(&seen), revision).await;
        begin(&mut client, "sleeps", json!({ "seconds": 1 })).await;
        pause(5).await;
        assert_eq!(seen.ends.load(Ordering::SeqCst), 1);
        drop(client);
        pause(5).await;
        assert_eq!(Arc::strong_count(&seen), 1, "{revision}: something holds the server's state");
    }
}

#[tokio::test(start_paused = true)]
async fn tasks_end_with_their_server() {
    for revision in [V4, V5] {
        let (seen, store) = (Arc::new(Seen::default()), Arc::new(MemoryStore::new()));
        let server = || edges(&seen).store(store.clone());
        let mut client = connect_to(server(), revision).await;
        let id = begin(&mut client, "sleeps", json!({ "seconds": 30 })).await;
        drop(client);
        let mut client = connect_to(server(), revision).await;
        assert_eq!(get(&mut client, &id).await["status"], "failed");
        pause(60).await;
        assert_eq!(get(&mut client, &id).await["status"], "failed", "how it ended has changed");
        assert_eq!(seen.ends.load(Ordering::SeqCst), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn tasks_that_end_at_once_do_not_use_up_the_notifications_of_a_session() {
    let seen = Arc::new(Seen::default());
    let mut client = connect_to(edges(&seen).limits(Limits::new().tasks(4)), V4).await;
    for _ in 0..8 {
        begin(&mut client, "ready", json!({})).await;
    }
    let id = begin(&mut client, "sleeps", json!({ "seconds": 1 })).await;
    let told = client.notification(Duration::from_secs(5)).await.expect("it has ended");
    assert_eq!(told["params"]["taskId"], id);
}

#[tokio::test(start_paused = true)]
async fn the_newest_request_for_a_result_gets_the_question_of_the_task() {
    let seen = Arc::new(Seen::default());
    let mut client = connect_to(edges(&seen), V4).await;
    let id = begin(&mut client, "asks_a_word", json!({})).await;
    pause(2).await;
    let which = json!({ "taskId": id });
    let first = client.start("tasks/result", which.clone());
    let mut asked = Value::Null;
    while asked["method"] != "elicitation/create" {
        asked = client.notification(Duration::from_secs(20)).await.expect("a question");
    }
    // A second request for the result takes over the question. Over HTTP the server cannot tell whether the client of the first request has
    // lost its stream or has merely not answered yet.
    let second = client.start("tasks/result", which.clone());
    let mut told = Vec::new();
    while let Some(notification) = client.notification(Duration::from_secs(20)).await {
        told.push(notification);
    }
    let withdrawn = told.iter().find(|message| message["method"] == "notifications/cancelled");
    let withdrawn = &withdrawn.expect("the first is taken back")["params"];
    assert_eq!(withdrawn["requestId"], asked["id"]);
    assert_eq!(withdrawn["_meta"]["io.modelcontextprotocol/related-task"]["taskId"], id);
    let again: Vec<_> =
        told.iter().filter(|message| message["method"] == "elicitation/create").collect();
    assert_eq!(again.len(), 1, "{told:?}");
    // When the second request is cancelled, the first one gets the question again.
    client.cancel(second);
    client.answer_with(|_, _| accept("yes"));
    let result = client.wait(first).await.unwrap();
    assert_eq!(result["content"][0]["text"], "yes");
}

#[tokio::test(start_paused = true)]
async fn a_task_can_be_read_after_its_tool_was_removed() {
    for revision in [V4, V5] {
        let slot = Arc::new(std::sync::Mutex::new(None::<Handle>));
        let seen = Arc::new(Seen::default());
        let kept = slot.clone();
        let server = server!().state(seen.clone()).items(items![sleeps]).setup(
            async move |handle: Handle| {
                *kept.lock().unwrap() = Some(handle);
                Ok::<_, Error>(())
            },
        );
        let mut client = connect_to(server, revision).await;
        let id = begin(&mut client, "sleeps", json!({ "seconds": 10 })).await;
        let handle = slot.lock().unwrap().take().unwrap();
        assert!(handle.remove("sleeps"));
        assert_eq!(get(&mut client, &id).await["status"], "working");
        pause(11).await;
        assert_eq!(get(&mut client, &id).await["status"], "completed");
        client.request("tasks/cancel", json!({ "taskId": id })).await.err();
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_fails_if_its_client_lacks_a_required_capability() {
    let seen = Arc::new(Seen::default());
    let mut client = TestClient::connect_capable(edges(&seen), V4, json!({})).await.unwrap();
    let id = begin(&mut client, "must_ask", json!({})).await;
    let task = get(&mut client, &id).await;
    assert_eq!(task["status"], "failed");
    let result = client.request("tasks/result", json!({ "taskId": id })).await.unwrap();
    assert_eq!(result["isError"], true);
}

#[tokio::test(start_paused = true)]
async fn calls_that_may_become_tasks_count_as_tasks() {
    let seen = Arc::new(Seen::default());
    let mut client = connect_to(edges(&seen).limits(Limits::new().tasks(2)), V5).await;
    let params = json!({ "name": "begins_after", "arguments": { "seconds": 1 } });
    let calls: Vec<_> = (0..4).map(|_| client.start("tools/call", params.clone())).collect();
    let mut begun = 0;
    for call in calls {
        begun +=
            usize::from(client.wait(call).await.is_ok_and(|result| result["resultType"] == "task"));
    }
    assert_eq!(begun, 2);
    pause(70).await;
    begin(&mut client, "begins_after", json!({ "seconds": 1 })).await;
}

#[tokio::test(start_paused = true)]
async fn results_that_the_store_cannot_hold_count_as_tasks() {
    let seen = Arc::new(Seen::default());
    let server = edges(&seen).limits(Limits::new().tasks(3));
    let mut client = connect_to(server.store(MemoryStore::new().bytes(4000)), V5).await;
    let mut accepted = 0;
    for _ in 0..10 {
        let params = json!({ "name": "much", "arguments": { "bytes": 10_000 } });
        accepted += usize::from(client.request("tools/call", params).await.is_ok());
        pause(2).await;
    }
    assert_eq!(accepted, 3, "what cannot be kept is kept here all the same, and must not pile up");
}

#[tokio::test(start_paused = true)]
async fn begin_task_returns_after_the_call_has_ended() {
    let seen = Arc::new(Seen::default());
    let mut client = connect_to(edges(&seen), V5).await;
    assert_eq!(client.call("leaves_behind", json!({})).await.unwrap().text(), "left");
    pause(10).await;
    assert!(seen.flag.load(Ordering::SeqCst), "`begin_task` waits for ever");
}

#[tokio::test(start_paused = true)]
async fn questions_of_the_call_come_before_the_task() {
    let seen = Arc::new(Seen::default());
    let mut client = connect_to(edges(&seen), V5).await;
    client.answer_with(|_, _| accept("yes"));
    assert_eq!(
        client.call("begins_beside_a_question", json!({})).await.unwrap().text(),
        "yes done"
    );
}

#[tokio::test(start_paused = true)]
async fn a_task_begins_where_around_runs_the_handler_elsewhere() {
    let seen = Arc::new(Seen::default());
    let server = edges(&seen)
        .around(|call, next| async move { tokio::spawn(next.run(call)).await.unwrap() });
    let mut client = connect_to(server, V5).await;
    let id = begin(&mut client, "begins_after", json!({ "seconds": 1 })).await;
    pause(70).await;
    assert_eq!(get(&mut client, &id).await["status"], "completed");
}

#[tokio::test(start_paused = true)]
async fn the_usual_time_holds_until_the_task_begins() {
    let seen = Arc::new(Seen::default());
    let mut client = connect_to(edges(&seen).timeout(Duration::from_secs(5)), V5).await;
    let answer = create(&mut client, "begins_after", json!({ "seconds": 20 })).await;
    assert!(
        answer["content"][0]["text"].as_str().is_some_and(|text| text.contains("5s")),
        "{answer}"
    );
    let id = begin(&mut client, "begins_after", json!({ "seconds": 2 })).await;
    pause(70).await;
    let task = get(&mut client, &id).await;
    assert_eq!(task["result"]["content"][0]["text"], "after", "{task}");
}

/// A store whose writes of tasks take a second, as on a slow disk.
struct Slow(MemoryStore);

impl Store for Slow {
    fn execute(&self, transactions: Vec<Transaction>) -> StoreFuture<'_, Vec<TransactionResult>> {
        Box::pin(async move {
            let is_slow = writes_a_task(&transactions);
            let results = self.0.execute(transactions).await?;
            if is_slow {
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
            Ok(results)
        })
    }

    fn follow(&self, partition: &str, log: &str, after: u64) -> Box<dyn Follower> {
        self.0.follow(partition, log, after)
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_cancelled_while_its_task_is_stored_leaves_no_running_task() {
    let (seen, store) = (Arc::new(Seen::default()), Arc::new(Slow(MemoryStore::new())));
    let mut client = connect_to(edges(&seen).store(store.clone()), V5).await;
    let params = json!({ "name": "sleeps", "arguments": { "seconds": 30 } });
    let call = client.start("tools/call", params);
    tokio::time::sleep(Duration::from_millis(100)).await;
    client.cancel(call);
    pause(10).await;
    assert_eq!(unfinished_count(&store.0).await, 0, "no task is left that never ends");
    pause(60).await;
    assert_eq!(seen.ends.load(Ordering::SeqCst), 0);
}

#[tool(task)]
async fn fails_at_length() -> Result<String> {
    tokio::time::sleep(Duration::from_secs(1)).await;
    Err(Error::msg("ö".repeat(100_000)))
}

#[tokio::test(start_paused = true)]
async fn a_status_message_is_one_line() {
    let mut client = connect_to(server!().items(items![fails_at_length]), V4).await;
    let id = begin(&mut client, "fails_at_length", json!({})).await;
    pause(2).await;
    let task = get(&mut client, &id).await;
    assert_eq!(task["statusMessage"].as_str().unwrap().chars().count(), 1000);
    let result = client.request("tasks/result", json!({ "taskId": id })).await.unwrap();
    assert_eq!(result["content"][0]["text"].as_str().unwrap().chars().count(), 100_000);
}

#[tokio::test(start_paused = true)]
async fn cancelling_a_task_of_another_process_is_an_error() {
    let (seen, store) = (Arc::new(Seen::default()), Arc::new(MemoryStore::new()));
    let server = || edges(&seen).store(store.clone());
    let (mut here, mut there) = (connect_to(server(), V4).await, connect_to(server(), V4).await);
    let id = begin(&mut here, "sleeps", json!({ "seconds": 30 })).await;
    let error = there.request("tasks/cancel", json!({ "taskId": id })).await.unwrap_err();
    assert!(error.message.contains("another process"), "{error}");
    assert_eq!(get(&mut there, &id).await["status"], "working");
}

#[tokio::test(start_paused = true)]
async fn a_task_is_stored_before_its_client_learns_its_id() {
    let server = everything().store(Slow(MemoryStore::new()));
    let mut client = connect_to(server, V5).await;
    let before = tokio::time::Instant::now();
    let id = begin(&mut client, "slow", json!({ "seconds": 5 })).await;
    assert!(before.elapsed() >= Duration::from_secs(1));
    assert_eq!(get(&mut client, &id).await["status"], "working");
    pause(7).await;
    assert_eq!(get(&mut client, &id).await["status"], "completed");
}
