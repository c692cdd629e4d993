//! Progress: notifications go to a client that asked for them, and to no other client.

use std::{
    pin::Pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context as TaskContext, Poll},
    time::Duration,
};

use mcp_runtime::{
    items,
    prelude::*,
    server,
    testing::{Revision, TestClient},
};
use serde_json::{Value, json};

use crate::support::{LIMIT, both_eras, both_eras_paused, connect};

/// A stream of this many items, all of which are ready at once.
struct Slow(u8);

impl futures_core::Stream for Slow {
    type Item = u8;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut TaskContext<'_>) -> Poll<Option<u8>> {
        if self.0 == 0 {
            return Poll::Ready(None);
        }
        self.0 -= 1;
        Poll::Ready(Some(self.0))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.0.into(), Some(self.0.into()))
    }
}

#[tool]
async fn iterates(progress: Progress, count: u8) -> u32 {
    let mut sum = 0;
    for n in progress.over(0..count) {
        sum += u32::from(n);
        tokio::task::yield_now().await;
    }
    sum
}

#[tool]
async fn streams(progress: Progress) -> u32 {
    use futures_core::Stream as _;
    let mut stream = progress.over_stream(Slow(2));
    let mut sum = 0;
    while let Some(n) = std::future::poll_fn(|cx| Pin::new(&mut stream).poll_next(cx)).await {
        sum += u32::from(n);
    }
    sum
}

#[tool]
async fn falls(progress: Progress) {
    progress.total(10);
    for value in [1.0, 0.5, 1.0, 2.0, f64::NAN, f64::INFINITY, 1.5, 3.0] {
        progress.report(value);
    }
}

#[tool]
async fn speaks(progress: Progress, ctx: &Context) {
    progress.say(1, "begun");
    progress.step();
    ctx.progress().step();
    progress.say(10_u64, "done");
}

#[tool(blocking)]
fn elsewhere(progress: Progress) {
    for _ in progress.over(0..2) {}
}

#[prompt]
async fn prompted(progress: Progress) -> &'static str {
    progress.report(1);
    ""
}

#[resource("progress://")]
async fn read(progress: Progress) -> &'static str {
    progress.report(1);
    ""
}

/// Number of calls of [`babbles`] whose answer the test has seen.
#[derive(Default)]
struct Seen(AtomicUsize);

/// Reports from a thread until the test has seen the answer of the call, which times out. The number of reports is bounded, because a test
/// that fails waits for the thread.
#[tool(blocking, timeout = "5ms")]
fn babbles(progress: Progress, seen: &Arc<Seen>, call: usize) {
    for _ in 0..1_000_000 {
        if seen.0.load(Ordering::Relaxed) > call {
            return;
        }
        progress.step();
    }
}

/// Keeps a clone of `Progress` after its call has ended.
#[derive(Default)]
struct Drawer(Mutex<Option<Progress>>);

#[tool]
async fn keeps(progress: Progress, drawer: &Drawer) {
    progress.report(1);
    *drawer.0.lock().unwrap() = Some(progress);
}

#[tool]
fn keeps_at_once(ctx: &Context, drawer: &Drawer) {
    let progress = ctx.progress();
    progress.report(1);
    *drawer.0.lock().unwrap() = Some(progress);
}

#[tool]
fn keeps_and_panics(ctx: &Context, drawer: &Drawer) {
    let progress = ctx.progress();
    *drawer.0.lock().unwrap() = Some(progress);
    panic!("on purpose");
}

#[resource("keeps://{x}")]
fn keeps_resource(x: u8, ctx: &Context, drawer: &Drawer) -> String {
    let progress = ctx.progress();
    *drawer.0.lock().unwrap() = Some(progress);
    x.to_string()
}

#[tool]
async fn reports_late(drawer: &Drawer) {
    let kept = drawer.0.lock().unwrap().take().unwrap();
    kept.report(2);
    tokio::task::yield_now().await;
    kept.report(3);
}

fn served() -> mcp_runtime::Builder {
    served_with(Arc::default())
}

fn served_with(seen: Arc<Seen>) -> mcp_runtime::Builder {
    server!()
        .items(items![
            iterates,
            streams,
            falls,
            speaks,
            elsewhere,
            prompted,
            read,
            keeps,
            reports_late,
            keeps_at_once,
            keeps_and_panics,
            keeps_resource,
            babbles
        ])
        .state(Drawer::default())
        .state(seen)
}

/// Sends a request and returns its progress reports, without their tokens.
async fn reports(
    client: &mut TestClient,
    method: &str,
    mut params: Value,
    token: Value,
) -> Vec<Value> {
    params["_meta"] = json!({ "progressToken": token });
    client.request(method, params).await.expect("the request is answered");
    let mut found = Vec::new();
    while let Some(mut notification) = client.notification(Duration::from_millis(10)).await {
        assert_eq!(notification["method"], "notifications/progress");
        let mut params = notification["params"].take();
        assert_eq!(params.as_object_mut().unwrap().remove("progressToken"), Some(token.clone()));
        found.push(params);
    }
    found
}

async fn called(client: &mut TestClient, tool: &str, arguments: Value) -> Vec<Value> {
    reports(client, "tools/call", json!({ "name": tool, "arguments": arguments }), json!("t")).await
}

both_eras_paused! {
    async fn iterators_and_streams_report_each_item_with_their_total(revision) {
        let mut client = connect(served(), revision).await;
        let of = |done: u8, total: u8| json!({ "progress": done, "total": total });
        assert_eq!(called(&mut client, "iterates", json!({ "count": 3 })).await, [of(1, 3), of(2, 3), of(3, 3)]);
        assert_eq!(called(&mut client, "iterates", json!({ "count": 0 })).await, [] as [Value; 0]);
        assert_eq!(called(&mut client, "streams", json!({})).await, [of(1, 2), of(2, 2)]);
        assert_eq!(called(&mut client, "elsewhere", json!({})).await, [of(1, 2), of(2, 2)]);
    }

    async fn values_that_do_not_rise_are_dropped(revision) {
        let mut client = connect(served(), revision).await;
        let of = |done: u8| json!({ "progress": done, "total": 10 });
        assert_eq!(called(&mut client, "falls", json!({})).await, [of(1), of(2), of(3)]);
    }

    async fn messages_and_steps(revision) {
        let mut client = connect(served(), revision).await;
        let expected = [
            json!({ "progress": 1, "message": "begun" }), json!({ "progress": 2 }), json!({ "progress": 3 }),
            json!({ "progress": 10, "message": "done" }),
        ];
        assert_eq!(called(&mut client, "speaks", json!({})).await, expected);
    }

    async fn prompts_and_resources_report_too_and_a_number_is_a_token(revision) {
        let mut client = connect(served(), revision).await;
        let prompt = reports(&mut client, "prompts/get", json!({ "name": "prompted" }), json!(0)).await;
        assert_eq!(prompt, [json!({ "progress": 1 })]);
        let resource = reports(&mut client, "resources/read", json!({ "uri": "progress://" }), json!(7)).await;
        assert_eq!(resource, [json!({ "progress": 1 })]);
    }

    async fn without_a_token_nothing_is_sent(revision) {
        let mut client = connect(served(), revision).await;
        for tool in ["falls", "speaks", "streams", "elsewhere"] {
            client.call(tool, json!({})).await.unwrap();
        }
        // A token must be a string or an integer, so this object is ignored.
        let params = json!({ "name": "falls", "_meta": { "progressToken": { "a": 1 } } });
        client.request("tools/call", params).await.unwrap();
        assert_eq!(client.notification(Duration::from_millis(10)).await, None);
    }

    async fn a_clone_of_a_plain_function_reports_nothing_after_the_answer(revision) {
        let mut client = connect(served(), revision).await;
        assert_eq!(called(&mut client, "keeps_at_once", json!({})).await, [json!({ "progress": 1 })]);
        assert_eq!(called(&mut client, "reports_late", json!({})).await, [] as [Value; 0]);
        assert_eq!(called(&mut client, "keeps_and_panics", json!({})).await, [] as [Value; 0]);
        assert_eq!(called(&mut client, "reports_late", json!({})).await, [] as [Value; 0]);
        reports(&mut client, "resources/read", json!({ "uri": "keeps://7" }), json!("t")).await;
        assert_eq!(called(&mut client, "reports_late", json!({})).await, [] as [Value; 0]);
    }

    async fn a_kept_clone_reports_nothing_after_the_answer(revision) {
        let mut client = connect(served(), revision).await;
        assert_eq!(called(&mut client, "keeps", json!({})).await, [json!({ "progress": 1 })]);
        assert_eq!(called(&mut client, "reports_late", json!({})).await, [] as [Value; 0]);
    }
}

both_eras! {
    async fn nothing_overtakes_the_answer_from_another_thread(revision) {
        let seen = Arc::new(Seen::default());
        let mut client = connect(served_with(seen.clone()), revision).await;
        for call in 0..5 {
            let arguments = json!({ "call": call });
            client.start("tools/call", json!({ "name": "babbles", "arguments": arguments, "_meta": { "progressToken": 1 } }));
            let mut answered = false;
            let patience = |answered| if answered { Duration::from_millis(60) } else { LIMIT };
            while let Some(line) = client.receive_raw(patience(answered)).await {
                assert!(!answered, "after the answer: {}", String::from_utf8_lossy(&line));
                answered = serde_json::from_slice::<Value>(&line).unwrap().get("result").is_some();
            }
            assert!(answered);
            seen.0.store(call + 1, Ordering::Relaxed);
        }
    }
}

#[tokio::test]
async fn messages_are_left_out_where_the_revision_has_none() {
    let mut client = connect(served(), Revision::V2024_11_05).await;
    assert_eq!(called(&mut client, "speaks", json!({})).await[0], json!({ "progress": 1 }));
}

#[tool]
fn endless(ctx: &Context) {
    ctx.progress().total(f64::INFINITY).report(1);
}

#[tokio::test]
async fn a_total_that_is_not_a_number_is_left_out() {
    let mut client = TestClient::connect(server!().items(items![endless])).await.unwrap();
    assert_eq!(called(&mut client, "endless", json!({})).await, [json!({ "progress": 1 })]);
}
