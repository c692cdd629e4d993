//! Rates of items and the number of calls that run at once, on a paused clock.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use mcp_runtime::{
    Builder, items,
    limits::{Limit, Limits, Rate},
    prelude::*,
    server,
    testing::{Revision, TestClient},
};
use serde_json::json;

use crate::support::{both_eras_paused, connect, problems, refused, said};

const REVISIONS: [Revision; 5] = [
    Revision::V2024_11_05,
    Revision::V2025_03_26,
    Revision::V2025_06_18,
    Revision::V2025_11_25,
    Revision::V2026_07_28,
];

/// Number of times that handlers ran.
#[derive(Clone, Default)]
struct Runs(Arc<AtomicUsize>);

impl Runs {
    fn run(&self) -> usize {
        self.0.fetch_add(1, Ordering::SeqCst) + 1
    }
}

#[tool(rate("2/s", burst = 3))]
fn often(runs: &Runs) -> usize {
    runs.run()
}

#[prompt(rate = "1/m")]
fn seldom(runs: &Runs) -> String {
    runs.run().to_string()
}

#[resource("fixed://", rate = "1/h")]
fn fixed(runs: &Runs) -> String {
    runs.run().to_string()
}

#[resource("some://{number}")]
fn numbered(number: u8) -> String {
    number.to_string()
}

#[resource("some://{word}", rate = "1/s")]
fn worded(word: &str) -> String {
    word.to_owned()
}

#[tool]
fn unlimited(runs: &Runs) -> usize {
    runs.run()
}

#[tool(concurrency = 2)]
async fn slow(seconds: u64) -> &'static str {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    "done"
}

#[tool(concurrency = 1, timeout = "1s")]
async fn fragile(way: &str) -> Result<&'static str> {
    tokio::task::yield_now().await;
    match way {
        "panics" => panic!("as it was told"),
        "fails" => Err(Error::msg("as it was told")),
        "waits" => std::future::pending().await,
        _ => Ok("well"),
    }
}

/// Returns the numbers of refused calls, for each item and for each limit.
#[tool]
fn counted(server: Handle) -> String {
    let stats = server.stats();
    let items = stats.items().iter().filter(|item| item.too_often() + item.too_many() > 0);
    let items = items.map(|item| {
        format!("{} {} {} {}", item.kind(), item.name(), item.too_often(), item.too_many())
    });
    let all = stats.all_refused().filter(|(_, count)| *count > 0);
    let all = all.map(|(limit, count)| format!("{limit} {count}"));
    items.chain(all).collect::<Vec<_>>().join(", ")
}

fn served(runs: &Runs) -> Builder {
    let items = items![often, seldom, fixed, numbered, worded, unlimited, slow, fragile, counted];
    server!().items(items).state(runs.clone())
}

#[tokio::test(start_paused = true)]
async fn a_caller_over_the_rate_learns_when_to_retry_in_every_revision() {
    for revision in REVISIONS {
        let runs = Runs::default();
        let mut client = connect(served(&runs), revision).await;
        for run in 1..=3 {
            assert_eq!(said(&mut client, "often", json!({})).await, run.to_string(), "{revision}");
        }
        let text = "error: `often` may be called twice a second; try again in 0.5 s";
        assert_eq!(said(&mut client, "often", json!({})).await, text, "{revision}");
        tokio::time::advance(Duration::from_millis(300)).await;
        let text = "error: `often` may be called twice a second; try again in 0.2 s";
        assert_eq!(said(&mut client, "often", json!({})).await, text, "{revision}");
        assert_eq!(runs.0.load(Ordering::SeqCst), 3, "{revision}: nothing of the user's has run");
        tokio::time::advance(Duration::from_millis(200)).await;
        assert_eq!(said(&mut client, "often", json!({})).await, "4", "{revision}");
        for run in 5..50 {
            let answer = said(&mut client, "unlimited", json!({})).await;
            assert_eq!(answer, run.to_string(), "{revision}");
        }
        assert_eq!(said(&mut client, "counted", json!({})).await, "tool often 2 0, rate 2");
    }
}

#[tokio::test(start_paused = true)]
async fn prompts_and_resources_answer_with_an_error_in_every_revision() {
    for revision in REVISIONS {
        let mut client = connect(served(&Runs::default()), revision).await;
        client.prompt("seldom", json!({})).await.unwrap();
        let text = "`seldom` may be called once a minute; try again in 60 s";
        let seldom = refused(&mut client, "prompts/get", json!({ "name": "seldom" })).await;
        assert_eq!(seldom, (-32603, text.into()), "{revision}");
        client.read("fixed://").await.unwrap();
        let text = "`fixed` may be called once an hour; try again in 3600 s";
        let fixed = refused(&mut client, "resources/read", json!({ "uri": "fixed://" })).await;
        assert_eq!(fixed, (-32603, text.into()), "{revision}");
    }
}

both_eras_paused! {
    async fn a_template_counts_the_reads_of_its_resources(revision) {
        let mut client = connect(served(&Runs::default()), revision).await;
        for number in 0..20 {
            client.read(&format!("some://{number}")).await.unwrap();
        }
        client.read("some://word").await.unwrap();
        let (_, message) = refused(&mut client, "resources/read", json!({ "uri": "some://other" })).await;
        assert_eq!(message, "`worded` may be called once a second; try again in 1 s");
        client.read("some://20").await.unwrap();
    }

    async fn calls_beyond_those_that_may_run_at_once_are_refused(revision) {
        let mut client = connect(served(&Runs::default()), revision).await;
        let call = |seconds: u64| json!({ "name": "slow", "arguments": { "seconds": seconds } });
        let first = client.start("tools/call", call(5));
        let second = client.start("tools/call", call(8));
        let text = "error: 2 calls of `slow` are running already: wait until one has ended";
        assert_eq!(said(&mut client, "slow", json!({ "seconds": 1 })).await, text);
        client.wait(first).await.unwrap();
        assert_eq!(said(&mut client, "slow", json!({ "seconds": 1 })).await, "done");
        let third = client.start("tools/call", call(60));
        assert_eq!(said(&mut client, "slow", json!({ "seconds": 1 })).await, text);
        client.cancel(third);
        tokio::time::sleep(Duration::from_millis(1)).await;
        assert_eq!(said(&mut client, "slow", json!({ "seconds": 1 })).await, "done");
        client.wait(second).await.unwrap();
        assert_eq!(said(&mut client, "counted", json!({})).await, "tool slow 0 2, concurrency 2");
    }

    async fn a_call_frees_its_slot_however_it_ends(revision) {
        for around in [false, true] {
            let server = served(&Runs::default());
            let server = if around { server.around(async |call, next| next.run(call).await) } else { server };
            let mut client = connect(server, revision).await;
            for way in ["well", "panics", "fails", "waits", "well", "well"] {
                let answer = said(&mut client, "fragile", json!({ "way": way })).await;
                assert!(!answer.contains("is running already"), "{way}: {answer}");
            }
            let _ongoing = client.start("tools/call", json!({ "name": "fragile", "arguments": { "way": "waits" } }));
            let text = "error: a call of `fragile` is running already: wait until it has ended";
            assert_eq!(said(&mut client, "fragile", json!({ "way": "well" })).await, text);
        }
    }

    async fn the_limits_of_the_server_apply_to_items_without_their_own(revision) {
        let server = served(&Runs::default()).rate(Rate::per_second(5)).concurrency(1);
        let mut client = connect(server, revision).await;
        for run in 1..=5 {
            assert_eq!(said(&mut client, "unlimited", json!({})).await, run.to_string());
        }
        let text = "error: `unlimited` may be called 5 times a second; try again in 0.2 s";
        assert_eq!(said(&mut client, "unlimited", json!({})).await, text);
        // `often` has a rate of its own.
        for run in 6..=8 {
            assert_eq!(said(&mut client, "often", json!({})).await, run.to_string());
        }
        assert!(said(&mut client, "often", json!({})).await.contains("twice a second"));
    }

    async fn items_added_at_run_time_can_have_rates_too(revision) {
        let server = served(&Runs::default()).rate(Rate::per_minute(2)).setup(async |server: Handle| {
            let of = |name: &'static str| Tool::new(name).handler(async |_: Context| "made");
            server.add(of("own").rate(Rate::per_second(1)).concurrency(3))?;
            server.add(of("defaulted"))?;
            for (name, wrong) in [("a", of("a").rate(Rate::per_hour(0))), ("b", of("b").concurrency(0))] {
                let why = server.add(wrong).unwrap_err().to_string();
                assert!(why.contains("nothing could be called") && why.contains(name), "{why}");
            }
            Ok::<_, Error>(Made)
        });
        let mut client = connect(server, revision).await;
        assert_eq!(said(&mut client, "own", json!({})).await, "made");
        assert!(said(&mut client, "own", json!({})).await.ends_with("once a second; try again in 1 s"));
        for _ in 0..2 {
            assert_eq!(said(&mut client, "defaulted", json!({})).await, "made");
        }
        assert!(said(&mut client, "defaulted", json!({})).await.ends_with("twice a minute; try again in 30 s"));
    }

    async fn rejections_by_other_limits_are_counted(revision) {
        let limits = Limits::new().calls(1).depth(16);
        let mut client = connect(served(&Runs::default()).limits(limits), revision).await;
        let ongoing = client.start("tools/call", json!({ "name": "slow", "arguments": { "seconds": 100 } }));
        assert!(client.call("unlimited", json!({})).await.is_err());
        client.cancel(ongoing);
        client.send_raw(format!("{}{}", "[".repeat(20), "]".repeat(20)).as_bytes());
        tokio::time::sleep(Duration::from_millis(1)).await;
        assert_eq!(said(&mut client, "counted", json!({})).await, "depth 1, calls 1");
    }
}

struct Made;

#[test]
fn a_server_whose_items_could_not_be_called_does_not_start() {
    let found = problems(served(&Runs::default()).rate(Rate::per_second(0)).concurrency(0));
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].contains("`.rate(…)` at") && found[0].contains("rates.rs:"), "{found:?}");
    assert!(found[1].contains("a concurrency of 0"), "{found:?}");
}

#[form]
struct Name {
    name: String,
}

#[tool(concurrency = 1)]
async fn asks(ctx: &Context) -> Result<String> {
    let name: Name = ctx.elicit("name", "Name?").await?;
    Ok(name.name)
}

/// In a session, a call goes on running while it waits for an answer, and keeps its slot.
#[tokio::test(start_paused = true)]
async fn a_call_that_waits_for_an_answer_keeps_its_slot() {
    let can = json!({ "elicitation": {} });
    let server = server!().items(items![asks]);
    let mut client = TestClient::connect_capable(server, Revision::V2025_11_25, can).await.unwrap();
    let _first = client.start("tools/call", json!({ "name": "asks", "arguments": {} }));
    let text = "error: a call of `asks` is running already: wait until it has ended";
    assert_eq!(said(&mut client, "asks", json!({})).await, text);
}

#[tool(task, concurrency = 1, rate("1/h", burst = 10))]
async fn report(seconds: u64) -> &'static str {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    "reported"
}

/// A task keeps the slot of its call until it ends, and a rejected call makes no task.
#[tokio::test(start_paused = true)]
async fn a_task_keeps_the_slot_of_its_call() {
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let can = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
        let server = server!().items(items![report, counted]);
        let mut client = TestClient::connect_capable(server, revision, can).await.unwrap();
        let mut call = json!({ "name": "report", "arguments": { "seconds": 30 } });
        if !revision.to_string().starts_with("2026") {
            call["task"] = json!({});
        }
        let made = client.request("tools/call", call.clone()).await.unwrap();
        assert!(made.to_string().contains("taskId"), "{made}");
        let text = "a call of `report` is running already: wait until it has ended";
        match client.request("tools/call", call.clone()).await {
            Ok(result) => assert_eq!(
                (&result["isError"], &result["content"][0]["text"]),
                (&json!(true), &json!(text)),
                "{revision}"
            ),
            Err(error) => {
                assert_eq!((error.code, &*error.message), (-32603, text), "{revision}");
                assert_eq!(revision, Revision::V2025_11_25);
            }
        }
        tokio::time::sleep(Duration::from_secs(31)).await;
        let made = client.request("tools/call", call).await.unwrap();
        assert!(made.to_string().contains("taskId"), "{made}");
        assert_eq!(said(&mut client, "counted", json!({})).await, "tool report 0 1, concurrency 1");
    }
}

#[test]
fn limits_have_the_names_of_their_settings() {
    let names: Vec<_> = Limit::ALL.iter().map(|limit| limit.name()).collect();
    for name in ["message", "calls", "max_total_calls", "sessions", "rate", "concurrency"] {
        assert!(names.contains(&name), "{name}");
    }
    let mut sorted = names.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(sorted.len(), names.len());
}
