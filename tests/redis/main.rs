//! The store of the crate `mcp-runtime-redis` on a real `redis-server`.

mod broken;
mod environment;
mod logins;
mod races;
mod refused;
mod topologies;
mod valkey;

use std::{sync::Arc, time::Duration};

use mcp_runtime::{
    items,
    prelude::*,
    store::{
        Condition, Follower, Output, Store, StoreFuture, StoreOperation, StoreStats, Transaction,
        TransactionResult,
    },
    testing::{Revision, TestClient, store_suite},
};
use mcp_runtime_redis::Redis;
use serde_json::json;
use support::{clock, redis::RedisServer, requirement::needs};
use tokio::sync::Notify;

fn main() -> std::process::ExitCode {
    support::harness::run_at_once(4)
}

/// Returns a new server.
fn redis_server() -> RedisServer {
    needs(RedisServer::start(&[]))
}

/// Store on a server of its own, which ends together with the store.
struct OwnServer {
    store: Redis,
    _server: RedisServer,
}

impl OwnServer {
    fn new(server: RedisServer) -> Self {
        // Busy machines answer later than the usual deadline.
        Self { store: Redis::new(server.url()).deadline(Duration::from_secs(20)), _server: server }
    }
}

impl Store for OwnServer {
    fn open(&self) -> StoreFuture<'_, ()> {
        self.store.open()
    }

    fn is_shared(&self) -> bool {
        self.store.is_shared()
    }

    fn execute(&self, transactions: Vec<Transaction>) -> StoreFuture<'_, Vec<TransactionResult>> {
        self.store.execute(transactions)
    }

    fn follow(&self, partition: &str, log: &str, after: u64) -> Box<dyn Follower> {
        self.store.follow(partition, log, after)
    }
}

store_suite!(suite, OwnServer::new(redis_server()), #[support::test]);

/// Time to live of what must not expire during a test.
const LONG: Duration = Duration::from_secs(600);

fn put(name: &str, value: &[u8]) -> Vec<Transaction> {
    vec![Transaction::on("p").then(StoreOperation::put(name, value, LONG, Condition::Any))]
}

async fn value(store: &Redis, name: &str) -> Option<Vec<u8>> {
    let read = Transaction::on("p").then(StoreOperation::get(name));
    let mut results = store.execute(vec![read]).await.unwrap();
    match results.remove(0).unwrap().remove(0) {
        Output::Record(record) => record.map(|record| record.value),
        other => panic!("a record, not {other:?}"),
    }
}

fn patient(server: &RedisServer) -> Redis {
    Redis::new(server.url()).deadline(Duration::from_secs(20))
}

#[support::test]
async fn every_key_has_the_prefix_and_expires() {
    let server = redis_server();
    let store = patient(&server).prefix("notes:");
    let all = Transaction::on("a } partition")
        .then(StoreOperation::put("a", *b"1", LONG, Condition::Any))
        .then(StoreOperation::append("a", *b"x", LONG, 9))
        .then(StoreOperation::enlist("a", "a", 1, LONG))
        .then(StoreOperation::Pass { rate: "a".to_owned(), interval: LONG, slack: LONG })
        .then(StoreOperation::Enter {
            places: "a".to_owned(),
            holder: "h".to_owned(),
            most: 1,
            lease: LONG,
        });
    assert!(store.execute(vec![all]).await.unwrap()[0].is_ok());
    let keys = server.cli(&["--scan"]);
    assert_eq!(keys.lines().count(), 7, "{keys}");
    for key in keys.lines() {
        assert!(key.starts_with("notes:{pa %7D partition}:"), "{key}");
        let left: i64 = server.cli(&["PTTL", key]).trim().parse().unwrap();
        assert!(left > 0 && left <= 600_001, "{key} expires in {left} ms");
    }
}

#[support::test]
async fn stores_with_different_prefixes_share_nothing() {
    let server = redis_server();
    let (one, other) = (patient(&server).prefix("one:"), patient(&server).prefix("other:"));
    one.execute(put("a", b"1")).await.unwrap();
    assert_eq!(value(&other, "a").await, None);
    let again = patient(&server).prefix("one:");
    assert_eq!(value(&again, "a").await.as_deref(), Some(&b"1"[..]));
}

#[support::test]
async fn a_script_that_redis_has_forgotten_is_loaded_again() {
    let server = redis_server();
    let store = patient(&server);
    for _ in 0..3 {
        store.execute(put("a", b"1")).await.unwrap();
        server.cli(&["SCRIPT", "FLUSH"]);
    }
    assert_eq!(value(&store, "a").await.as_deref(), Some(&b"1"[..]));
}

#[support::test]
async fn a_full_redis_is_an_error_of_its_own() {
    let server = needs(RedisServer::start(&["--maxmemory", "3mb"]));
    let store = patient(&server);
    let large = vec![7; 1 << 20];
    for number in 0..10 {
        if let Err(why) = store.execute(put(&number.to_string(), &large)).await {
            assert!(why.is_full() && why.to_string().contains("maxmemory"), "{why}");
            return;
        }
    }
    panic!("ten megabytes fit into three");
}

#[support::test]
async fn a_redis_that_does_not_answer_fails_transactions_until_it_is_back() {
    let server = redis_server();
    let store = Redis::new(server.url()).deadline(Duration::from_millis(300));
    eventually(async || store.execute(put("a", b"1")).await.is_ok()).await;
    server.pause();
    let why = store.execute(put("a", b"2")).await.unwrap_err();
    assert!(why.is_unavailable() && why.to_string().contains("300ms"), "{why}");
    server.resume();
    eventually(async || store.execute(put("a", b"3")).await.is_ok()).await;
    assert_eq!(value(&store, "a").await.as_deref(), Some(&b"3"[..]));
}

#[support::test]
fn a_start_fails_if_redis_does_not_answer() {
    let server = redis_server();
    server.pause();
    clock::in_step(async {
        let store = Redis::new(server.url());
        let opening = tokio::spawn(async move { store.open().await });
        let ended = async || {
            tokio::time::advance(Duration::from_secs(1)).await;
            opening.is_finished()
        };
        eventually(ended).await;
        let why = opening.await.unwrap().unwrap_err();
        assert!(why.is_unavailable(), "{why}");
        let why = why.to_string();
        let names = [&server.url()["redis://".len()..], "does not answer"];
        assert!(names.iter().all(|name| why.contains(name)), "{why}");
    });
}

#[support::test]
async fn a_redis_that_restarts_is_connected_to_again_by_store_and_follower() {
    let mut server = redis_server();
    let store = Redis::new(server.url()).deadline(Duration::from_millis(500));
    let append = |value: u8| {
        vec![Transaction::on("p").then(StoreOperation::append("log", [value], LONG, 99))]
    };
    eventually(async || store.execute(append(1)).await.is_ok()).await;
    let mut follower = store.follow("p", "log", 0);
    eventually(async || follower.next().await.is_ok_and(|event| event.value == [1])).await;
    server.stop();
    let why = store.execute(append(2)).await.unwrap_err();
    assert!(why.is_unavailable(), "{why}");
    server.restart();
    // The new server has no data, so the log begins again.
    eventually(async || store.execute(append(3)).await.is_ok()).await;
    eventually(async || follower.next().await.is_ok_and(|event| event.value == [3])).await;
}

#[support::test]
async fn a_store_that_cannot_connect_says_so_and_keeps_the_password_to_itself() {
    let server = needs(RedisServer::start(&["--requirepass", "secret"]));
    let (port, wrong) = (server.port(), "not-the-password");
    let store = Redis::new(format!("redis://:{wrong}@127.0.0.1:{port}"));
    let why = store.open().await.unwrap_err();
    assert!(why.to_string().contains("cannot connect to Redis"), "{why}");
    assert!(!format!("{why} {why:?} {store:?}").contains(wrong));
    let store = Redis::new(format!("redis://:secret@127.0.0.1:{port}"));
    store.open().await.unwrap();
    let why = Redis::new("http://user:secret@localhost").open().await.unwrap_err();
    assert!(why.to_string().contains("the URL of Redis is invalid"), "{why}");
    assert!(!why.to_string().contains("secret"));
    drop(server);
    assert!(
        Redis::new(format!("redis://127.0.0.1:{port}")).open().await.unwrap_err().is_unavailable()
    );
}

/// Waits until the condition holds.
async fn eventually(mut holds: impl AsyncFnMut() -> bool) {
    clock::eventually("the condition", async || holds().await.then_some(())).await;
}

/// Takes a minute.
#[tool(task)]
async fn slow() -> &'static str {
    std::future::pending().await
}

/// Is done soon.
#[tool(task = "required")]
async fn quick() -> &'static str {
    tokio::task::yield_now().await;
    "done"
}

#[support::test]
async fn tasks_in_redis_survive_their_server() {
    let redis = redis_server();
    let start = async || {
        let server = mcp_runtime::server!().items(items![slow, quick]).store(patient(&redis));
        TestClient::connect_with(server, Revision::V2025_11_25).await.unwrap()
    };
    let mut client = start().await;
    let mut ids = Vec::new();
    for tool in ["slow", "quick"] {
        let params = json!({ "name": tool, "arguments": {}, "task": {} });
        let created = client.request("tools/call", params).await.unwrap();
        ids.push(created["task"]["taskId"].as_str().unwrap().to_owned());
    }
    let result = client.request("tasks/result", json!({ "taskId": ids[1] })).await.unwrap();
    assert_eq!(result["content"][0]["text"], "done");
    drop(client);
    let mut client = start().await;
    for (id, status) in ids.iter().zip(["failed", "completed"]) {
        // The new server ends the task when the lease of its server has ended.
        clock::eventually(status, async || {
            let task = client.request("tasks/get", json!({ "taskId": id })).await.unwrap();
            (task["status"] == status).then_some(())
        })
        .await;
    }
    let listed = client.request("tasks/list", json!({})).await.unwrap();
    assert_eq!(listed["tasks"].as_array().map(Vec::len), Some(2));
}

/// Reports progress whenever the test says so.
#[tool(task)]
async fn report(reports: &Reports, progress: Progress) {
    for done in 0.. {
        reports.0.notified().await;
        progress.say(done, format!("step {done}"));
    }
}

/// Returns the number of requests that the store has refused.
#[tool]
fn refused(server: Handle) -> u64 {
    server.stats().store().map_or(0, StoreStats::failed)
}

/// Calls of the test to report progress.
#[derive(Clone, Default)]
struct Reports(Arc<Notify>);

#[support::test]
async fn a_full_redis_loses_no_finished_task() {
    let redis = redis_server();
    let reports = Reports::default();
    let server =
        mcp_runtime::server!().items(items![quick, report, refused]).state(reports.clone());
    let server = server.store(patient(&redis));
    let mut client = TestClient::connect_with(server, Revision::V2025_11_25).await.unwrap();
    let begin = |tool| json!({ "name": tool, "arguments": {}, "task": {} });
    for _ in 0..20 {
        client.request("tools/call", begin("quick")).await.unwrap();
    }
    let running = client.request("tools/call", begin("report")).await.unwrap();
    let running = json!({ "taskId": running["task"]["taskId"] });
    let refusals = async |client: &mut TestClient| -> u64 {
        client.call("refused", json!({})).await.unwrap().text().parse().unwrap()
    };
    let completed = async |client: &mut TestClient| {
        let listed = client.request("tasks/list", json!({})).await.unwrap();
        let tasks = listed["tasks"].as_array().unwrap();
        tasks.iter().filter(|task| task["status"] == "completed").count()
    };
    clock::eventually("the end of all tasks", async || {
        (completed(&mut client).await == 20).then_some(())
    })
    .await;
    redis.cli(&["CONFIG", "SET", "maxmemory", "100kb"]);
    for tool in ["quick", "report"] {
        let refused = client.request("tools/call", begin(tool)).await.unwrap_err();
        assert!(refused.message.contains("is not available: try again later"), "{refused:?}");
    }
    let failed = refusals(&mut client).await;
    reports.0.notify_one();
    clock::eventually("the refused report", async || {
        (refusals(&mut client).await > failed).then_some(())
    })
    .await;
    client.request("tasks/cancel", running.clone()).await.unwrap_err();
    assert_eq!(completed(&mut client).await, 20);
    redis.cli(&["CONFIG", "SET", "maxmemory", "0"]);
    client.request("tasks/cancel", running).await.unwrap();
    assert_eq!(completed(&mut client).await, 20);
}

#[tool(concurrency = 2)]
async fn dig(for_ever: bool) -> &'static str {
    if for_ever {
        std::future::pending().await
    }
    "done"
}

#[tool(rate("1/h", burst = 3))]
fn call_home() -> &'static str {
    "done"
}

/// Returns two clients, each of its own server, which share Redis.
async fn two_nodes(redis: &RedisServer) -> [TestClient; 2] {
    let node = async || {
        let server = mcp_runtime::server!().items(items![dig, call_home]);
        let server = server.store(patient(redis));
        TestClient::connect_with(server, Revision::V2026_07_28).await.unwrap()
    };
    [node().await, node().await]
}

#[support::test]
async fn servers_with_one_redis_count_running_calls_together() {
    let redis = redis_server();
    let [mut one, mut other] = two_nodes(&redis).await;
    let call = json!({ "name": "dig", "arguments": { "for_ever": true } });
    let _running = [one.start("tools/call", call.clone()), other.start("tools/call", call)];
    let places = || redis.cli(&["ZCARD", "mcp:{pplaces:tool:dig}:p:calls"]).trim().to_owned();
    eventually(async || places() == "2").await;
    for client in [&mut one, &mut other] {
        let refused = client.call("dig", json!({ "for_ever": false })).await.unwrap();
        assert!(refused.is_error, "{}", refused.text());
        assert!(refused.text().starts_with("2 calls of `dig` are running already"));
    }
    drop(one);
    eventually(async || places() == "1").await;
    for _ in 0..20 {
        let called = other.call("dig", json!({ "for_ever": false })).await.unwrap();
        assert_eq!(called.text(), "done");
    }
    assert_eq!(places(), "1");
}

#[support::test]
async fn the_rate_of_a_caller_in_redis_refuses_with_the_time_to_wait() {
    let redis = redis_server();
    let [mut one, _other] = two_nodes(&redis).await;
    for _ in 0..3 {
        assert_eq!(one.call("call_home", json!({})).await.unwrap().text(), "done");
    }
    let text = one.call("call_home", json!({})).await.unwrap().text();
    let seconds: u64 = text
        .strip_prefix("`call_home` may be called once an hour; try again in ")
        .and_then(|text| text.strip_suffix(" s")?.parse().ok())
        .unwrap_or_else(|| panic!("{text}"));
    assert!((1..=3600).contains(&seconds), "{text}");
}
