//! Races of two nodes on one `redis-server`, each with exactly one winner: a state for single use, the only place of a tool, and the tasks
//! of a node that is gone.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use mcp_runtime::{
    Builder, items,
    limits::Limits,
    prelude::*,
    testing::{Revision, TestClient},
};
use serde_json::json;
use support::{clock, redis::RedisServer, requirement::needs};
use tokio::sync::Semaphore;

use crate::patient;

const ROUNDS: usize = 1000;

#[form]
struct Name {
    name: String,
}

#[tool(single_use)]
async fn pays(ctx: &Context) -> Result<String> {
    Ok(ctx.elicit::<Name>("name", "Who pays?").await?.name)
}

/// Permits for the calls of `digs_alone`.
type Permits = Arc<Semaphore>;

#[tool(concurrency = 1)]
async fn digs_alone(permits: &Permits) -> &'static str {
    permits.acquire().await.expect("nothing closes it").forget();
    "done"
}

#[tool(task)]
async fn digs(permits: &Permits) -> &'static str {
    permits.acquire().await.expect("nothing closes it").forget();
    "done"
}

/// Names of the nodes that have begun each task.
type Runs = Arc<Mutex<BTreeMap<usize, Vec<&'static str>>>>;

/// Name of a node.
struct Node(&'static str);

#[tool(task, idempotent)]
async fn runs(number: usize, node: &Node, runs: &Runs) {
    runs.lock().unwrap_or_else(PoisonError::into_inner).entry(number).or_default().push(node.0);
    std::future::pending::<()>().await;
}

/// Builds a node. All nodes share Redis and the values of the test.
fn node(redis: &RedisServer, name: &'static str, permits: &Permits, runs: &Runs) -> Builder {
    mcp_runtime::server!(name = "races")
        .items(items![pays, digs, digs_alone, self::runs])
        .state(Node(name))
        .state(permits.clone())
        .state(runs.clone())
        .limits(Limits::new().tasks(2 * ROUNDS).owner_tasks(2 * ROUNDS))
        .store(patient(redis))
}

async fn legacy_client(server: Builder) -> TestClient {
    TestClient::connect_with(server, Revision::V2025_11_25).await.unwrap()
}

async fn two_nodes(redis: &RedisServer, permits: &Permits) -> [TestClient; 2] {
    let connect = async |name| {
        let server = node(redis, name, permits, &Runs::default());
        let can = json!({ "elicitation": {} });
        TestClient::connect_capable(server, Revision::V2026_07_28, can).await.unwrap()
    };
    [connect("one").await, connect("two").await]
}

#[support::test(threads = 2)]
async fn one_server_continues_what_another_has_begun_and_a_state_is_used_once() {
    let redis = needs(RedisServer::start(&[]));
    let [mut one, mut other] = two_nodes(&redis, &Arc::new(Semaphore::new(0))).await;
    for round in 0..ROUNDS {
        let call = json!({ "name": "pays", "arguments": {} });
        let beginner = if round % 2 == 0 { &mut one } else { &mut other };
        let begun = beginner.start("tools/call", call.clone());
        let asked = beginner.wait(begun).await.unwrap();
        let mut next = call;
        next["requestState"] = asked["requestState"].clone();
        let answer = json!({ "action": "accept", "content": { "name": "Ada" } });
        next["inputResponses"] = json!({ "name": answer });
        let calls = (one.start("tools/call", next.clone()), other.start("tools/call", next));
        let results = [one.wait(calls.0).await, other.wait(calls.1).await];
        let won = results.iter().filter(|result| result.is_ok()).count();
        assert_eq!(won, 1, "{round}: {results:?}");
        let lost = results.iter().find_map(|result| result.as_ref().err()).expect("an error");
        assert!(lost.message.contains("has been sent already"), "{round}: {lost}");
    }
}

#[support::test(threads = 2)]
async fn one_of_two_nodes_gets_the_lease_of_an_only_place() {
    let redis = needs(RedisServer::start(&[]));
    let permits = Arc::new(Semaphore::new(0));
    let [mut one, mut other] = two_nodes(&redis, &permits).await;
    let mut wins = [0, 0];
    for round in 0..ROUNDS {
        let call = json!({ "name": "digs_alone", "arguments": {} });
        // Each node asks first in half of the rounds.
        let (first, second);
        if round % 2 == 0 {
            first = one.start("tools/call", call.clone());
            second = other.start("tools/call", call);
        } else {
            second = other.start("tools/call", call.clone());
            first = one.start("tools/call", call);
        }
        // The winner has its place until the other node was refused.
        let (mut first, mut second) = (Box::pin(one.wait(first)), Box::pin(other.wait(second)));
        let (refused, winner) = tokio::select! {
            refused = &mut first => (refused, 1),
            refused = &mut second => (refused, 0),
        };
        let refused = refused.unwrap();
        assert_eq!(refused["isError"], true, "{round}: both nodes have the place: {refused}");
        permits.add_permits(1);
        let won = if winner == 0 { first.await } else { second.await }.unwrap();
        assert_eq!(won["content"][0]["text"], "done", "{round}: no node has the place: {won}");
        wins[winner] += 1;
        let places = || redis.cli(&["ZCARD", "mcp:{pplaces:tool:digs_alone}:p:calls"]);
        clock::eventually("the free place", async || (places().trim() == "0").then_some(())).await;
    }
    support::note!("{wins:?} of {ROUNDS} rounds were won by each node");
}

#[support::test]
async fn each_task_of_a_node_that_is_gone_is_taken_by_one_of_two_nodes() {
    let redis = needs(RedisServer::start(&[]));
    let (permits, runs) = (Arc::new(Semaphore::new(0)), Runs::default());
    let connect = async |name| legacy_client(node(&redis, name, &permits, &runs)).await;
    let (mut gone, _one, _two) =
        (connect("gone").await, connect("one").await, connect("two").await);
    for number in 0..ROUNDS {
        let params = json!({ "name": "runs", "arguments": { "number": number }, "task": {} });
        gone.request("tools/call", params).await.unwrap();
    }
    // Without `close`, the node does not end its lease: it runs out.
    drop(gone);
    let seen = || runs.lock().unwrap_or_else(PoisonError::into_inner).clone();
    clock::eventually("the second run of each task", async || {
        let seen = seen();
        (seen.len() == ROUNDS && seen.values().all(|nodes| nodes.len() >= 2)).then_some(())
    })
    .await;
    let mut wins = BTreeMap::new();
    for (number, nodes) in seen() {
        assert_eq!((nodes.len(), nodes[0]), (2, "gone"), "task {number}: {nodes:?}");
        *wins.entry(nodes[1]).or_insert(0) += 1;
    }
    support::note!("{wins:?} of {ROUNDS} tasks were taken by each node");
    assert!(!wins.contains_key("gone"), "{wins:?}");
}

#[support::test]
async fn a_task_that_runs_outlives_the_data_of_redis() {
    let redis = needs(RedisServer::start(&[]));
    let (permits, runs) = (Arc::new(Semaphore::new(0)), Runs::default());
    let connect = async |name| legacy_client(node(&redis, name, &permits, &runs)).await;
    let (mut own, mut other) = (connect("own").await, connect("other").await);
    let params = json!({ "name": "digs", "arguments": {}, "task": {} });
    let created = own.request("tools/call", params).await.unwrap();
    let id = json!({ "taskId": created["task"]["taskId"] });
    redis.cli(&["FLUSHALL"]);
    // The client of the node sees the task all the time, and the other node sees it again soon.
    clock::eventually("the task at the other node", async || {
        assert_eq!(own.request("tasks/get", id.clone()).await.unwrap()["status"], "working");
        other.request("tasks/get", id.clone()).await.ok()
    })
    .await;
    redis.cli(&["FLUSHALL"]);
    permits.add_permits(1);
    for client in [&mut own, &mut other] {
        let result = clock::eventually("the result", async || {
            client.request("tasks/result", id.clone()).await.ok()
        });
        assert_eq!(result.await["content"][0]["text"], "done");
    }
}
