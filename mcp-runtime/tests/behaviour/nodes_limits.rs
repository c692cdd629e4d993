//! Limits of items on several servers that share a store, on a paused clock: each limit is counted once for all of them.

use std::{
    future::pending,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use mcp_runtime::{
    Builder, items,
    limits::{Limit, Rate},
    prelude::*,
    server,
    testing::{Revision, TestClient},
};
use serde_json::json;

use crate::shared_store::{Line, NodeStore};
use crate::support::{both_eras_paused, connect, pass, refused, said};

/// Number of times that handlers ran, on all nodes.
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

#[tool]
fn unlimited(runs: &Runs) -> usize {
    runs.run()
}

#[tool(concurrency = 2)]
async fn slow(seconds: u64) -> &'static str {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    "done"
}

#[tool(concurrency = 1, rate("1/h", burst = 4))]
async fn both(seconds: u64) -> &'static str {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    "done"
}

#[tool(concurrency = 1, timeout = "1s")]
async fn fragile(way: &str) -> Result<&'static str> {
    if way != "at once" {
        tokio::task::yield_now().await;
    }
    match way {
        "panics" => panic!("as it was told"),
        "fails" => Err(Error::msg("as it was told")),
        "waits" => pending().await,
        _ => Ok("well"),
    }
}

#[resource("counted://{number}", concurrency = 1)]
async fn counted(number: u64) -> String {
    tokio::time::sleep(Duration::from_secs(number)).await;
    number.to_string()
}

#[prompt(concurrency = 1)]
async fn asked() -> &'static str {
    pending().await
}

/// Returns the numbers of calls that this node has refused.
#[tool]
fn refusals(server: Handle) -> String {
    let stats = server.stats();
    format!("{} {}", stats.refused(Limit::Rate), stats.refused(Limit::Concurrency))
}

/// Returns the number of servers, and the numbers of calls that run on all of them.
#[tool]
async fn running(server: Handle) -> Result<String> {
    let Some(stats) = server.shared_stats().await? else { return Ok("alone".to_owned()) };
    let items = stats.items().iter().filter(|item| item.running() > 0);
    let running: Vec<_> =
        items.map(|item| format!("{} {} {}", item.running(), item.kind(), item.name())).collect();
    Ok(format!("{} servers: {}", stats.servers(), running.join(", ")))
}

fn node(store: &NodeStore) -> Builder {
    let items = items![often, unlimited, slow, both, fragile, counted, asked, refusals, running];
    server!().items(items).state(Runs::default()).store(store.clone())
}

const FULL: &str = "error: 2 calls of `slow` are running already: wait until one has ended";
const TAKEN: &str = "error: a call of `fragile` is running already: wait until it has ended";

/// Error of a call that the store cannot count.
fn uncounted(name: &str) -> (i64, String) {
    let text = format!(
        "the store of the server, which counts the calls of `{name}`, is not available: try again later"
    );
    (-32603, text)
}

both_eras_paused! {
    async fn concurrency_is_counted_once_for_all_nodes(revision) {
        let stores = NodeStore::pair();
        let mut one = connect(node(&stores[0]), revision).await;
        let mut other = connect(node(&stores[1]), revision).await;
        let call = |seconds: u64| json!({ "name": "slow", "arguments": { "seconds": seconds } });
        let first = one.start("tools/call", call(5));
        let second = other.start("tools/call", call(12));
        pass(Duration::from_secs(1)).await;
        for client in [&mut one, &mut other] {
            assert_eq!(said(client, "slow", json!({ "seconds": 1 })).await, FULL);
        }
        one.wait(first).await.unwrap();
        // The place is free as soon as the client has its answer.
        assert_eq!(said(&mut other, "slow", json!({ "seconds": 1 })).await, "done");
        assert_eq!(said(&mut one, "slow", json!({ "seconds": 1 })).await, "done");
        other.wait(second).await.unwrap();
        assert_eq!(said(&mut one, "refusals", json!({})).await, "0 1");
        assert_eq!(said(&mut other, "refusals", json!({})).await, "0 1");
    }

    async fn a_handle_reads_how_many_calls_run_on_all_nodes(revision) {
        let stores = NodeStore::pair();
        let mut one = connect(node(&stores[0]), revision).await;
        let mut other = connect(node(&stores[1]), revision).await;
        assert_eq!(said(&mut one, "running", json!({})).await, "2 servers: ");
        let slow = one.start("tools/call", json!({ "name": "slow", "arguments": { "seconds": 5 } }));
        let _same = other.start("tools/call", json!({ "name": "slow", "arguments": { "seconds": 60 } }));
        let _read = other.start("resources/read", json!({ "uri": "counted://60" }));
        pass(Duration::from_secs(1)).await;
        let all = "2 servers: 2 tool slow, 1 resource counted";
        assert_eq!(said(&mut one, "running", json!({})).await, all);
        assert_eq!(said(&mut other, "running", json!({})).await, all);
        one.wait(slow).await.unwrap();
        let rest = "2 servers: 1 tool slow, 1 resource counted";
        assert_eq!(said(&mut one, "running", json!({})).await, rest);
        stores[0].set(Line::Cut);
        let failed = refused(&mut one, "tools/call", json!({ "name": "running" })).await;
        assert_eq!(failed, (-32603, "the store of the server is not available: try again later".to_owned()));

        let mut alone = connect(server!().items(items![running]), revision).await;
        assert_eq!(said(&mut alone, "running", json!({})).await, "alone");
    }

    async fn a_place_is_free_again_however_the_call_ends(revision) {
        for around in [false, true] {
            let stores = NodeStore::pair();
            let wrapped = |server: Builder| {
                if around { server.around(async |call, next| next.run(call).await) } else { server }
            };
            let mut one = connect(wrapped(node(&stores[0])), revision).await;
            let mut other = connect(wrapped(node(&stores[1])), revision).await;
            for way in ["well", "at once", "panics", "fails", "waits", "well"] {
                for client in [&mut one, &mut other] {
                    let answer = said(client, "fragile", json!({ "way": way })).await;
                    assert!(!answer.contains("is running already"), "{way}: {answer}");
                }
            }
            let waits = json!({ "name": "fragile", "arguments": { "way": "waits" } });
            let ongoing = one.start("tools/call", waits);
            pass(Duration::from_millis(10)).await;
            assert_eq!(said(&mut other, "fragile", json!({ "way": "well" })).await, TAKEN);
            one.cancel(ongoing);
            pass(Duration::from_millis(10)).await;
            assert_eq!(said(&mut other, "fragile", json!({ "way": "well" })).await, "well");
        }
    }

    async fn a_call_that_is_cancelled_while_the_store_answers_leaves_no_place(revision) {
        let stores = NodeStore::pair();
        let mut one = connect(node(&stores[0]), revision).await;
        let mut other = connect(node(&stores[1]), revision).await;
        stores[0].set(Line::Silent);
        let ongoing = one.start("tools/call", json!({ "name": "fragile", "arguments": { "way": "well" } }));
        pass(Duration::from_millis(10)).await;
        assert_eq!(said(&mut other, "fragile", json!({ "way": "well" })).await, TAKEN);
        stores[0].set(Line::Works);
        one.cancel(ongoing);
        pass(Duration::from_millis(10)).await;
        assert_eq!(said(&mut other, "fragile", json!({ "way": "well" })).await, "well");
    }

    async fn resources_and_prompts_share_their_places_too(revision) {
        let stores = NodeStore::pair();
        let mut one = connect(node(&stores[0]), revision).await;
        let mut other = connect(node(&stores[1]), revision).await;
        let _read = one.start("resources/read", json!({ "uri": "counted://5" }));
        let _got = one.start("prompts/get", json!({ "name": "asked" }));
        pass(Duration::from_millis(10)).await;
        let taken = |name: &str| format!("a call of `{name}` is running already: wait until it has ended");
        let read = refused(&mut other, "resources/read", json!({ "uri": "counted://1" })).await;
        assert_eq!(read, (-32603, taken("counted")));
        let got = refused(&mut other, "prompts/get", json!({ "name": "asked" })).await;
        assert_eq!(got, (-32603, taken("asked")));
        pass(Duration::from_secs(5)).await;
        other.read("counted://1").await.unwrap();
    }

    async fn the_lease_of_a_running_call_is_renewed_and_that_of_a_lost_node_ends(revision) {
        let stores = NodeStore::pair();
        let mut one = connect(node(&stores[0]), revision).await;
        let mut other = connect(node(&stores[1]), revision).await;
        stores[0].executed();
        let call = json!({ "name": "slow", "arguments": { "seconds": 600 } });
        let _running: Vec<_> = [0, 1].map(|_| one.start("tools/call", call.clone())).into();
        for _ in 0..20 {
            pass(Duration::from_secs(11)).await;
            assert_eq!(said(&mut other, "slow", json!({ "seconds": 1 })).await, FULL);
        }
        // Every ten seconds, both leases are renewed together.
        let executed = stores[0].executed();
        let count = |text: &str| executed.iter().filter(|call| *call == text).count();
        assert_eq!(count("enter"), 2, "{executed:?}");
        assert!((20..=24).contains(&count("enter, enter")), "{executed:?}");
        stores[0].set(Line::Cut);
        pass(Duration::from_secs(19)).await;
        assert_eq!(said(&mut other, "slow", json!({ "seconds": 1 })).await, FULL);
        pass(Duration::from_secs(12)).await;
        assert_eq!(said(&mut other, "slow", json!({ "seconds": 1 })).await, "done");
    }

    async fn calls_that_outlast_their_lease_count_again_once_the_store_is_back(revision) {
        let stores = NodeStore::pair();
        let mut one = connect(node(&stores[0]), revision).await;
        let mut other = connect(node(&stores[1]), revision).await;
        let _running = one.start("tools/call", json!({ "name": "slow", "arguments": { "seconds": 600 } }));
        pass(Duration::from_secs(1)).await;
        stores[0].set(Line::Cut);
        pass(Duration::from_secs(60)).await;
        let call = json!({ "name": "slow", "arguments": { "seconds": 300 } });
        let _others: Vec<_> = [0, 1].map(|_| other.start("tools/call", call.clone())).into();
        stores[0].set(Line::Works);
        pass(Duration::from_secs(11)).await;
        // Three calls run now. When the two of the other node have ended, one more may run.
        assert_eq!(said(&mut other, "slow", json!({ "seconds": 1 })).await, FULL);
        pass(Duration::from_secs(300)).await;
        let _third = other.start("tools/call", call);
        pass(Duration::from_secs(1)).await;
        assert_eq!(said(&mut other, "slow", json!({ "seconds": 1 })).await, FULL);
    }

    async fn a_call_is_refused_if_the_store_cannot_count_it(revision) {
        let [store, _] = NodeStore::pair();
        let mut client = connect(node(&store), revision).await;
        for (line, wait) in [(Line::Cut, Duration::ZERO), (Line::Silent, Duration::from_secs(5))] {
            store.set(line);
            for (tool, arguments) in [("often", json!({})), ("slow", json!({ "seconds": 1 }))] {
                let since = tokio::time::Instant::now();
                let params = json!({ "name": tool, "arguments": arguments });
                assert_eq!(refused(&mut client, "tools/call", params).await, uncounted(tool));
                assert_eq!(since.elapsed(), wait, "{tool}");
            }
            assert_eq!(said(&mut client, "unlimited", json!({})).await.len(), 1);
        }
        store.set(Line::Works);
        pass(Duration::from_secs(2)).await;
        assert_eq!(said(&mut client, "slow", json!({ "seconds": 1 })).await, "done");
        assert_eq!(said(&mut client, "refusals", json!({})).await, "0 0");
    }

    async fn an_answer_waits_for_a_failing_store_no_longer_than_for_one_attempt(revision) {
        let stores = NodeStore::pair();
        let mut one = connect(node(&stores[0]), revision).await;
        let mut other = connect(node(&stores[1]), revision).await;
        let ongoing = one.start("tools/call", json!({ "name": "both", "arguments": { "seconds": 3 } }));
        pass(Duration::from_secs(1)).await;
        stores[0].set(Line::Cut);
        one.wait(ongoing).await.unwrap();
        let text = "error: a call of `both` is running already: wait until it has ended";
        assert_eq!(said(&mut other, "both", json!({ "seconds": 1 })).await, text);
        // The place is given back by a later attempt, long before its lease ends.
        stores[0].set(Line::Works);
        pass(Duration::from_secs(2)).await;
        assert_eq!(said(&mut other, "both", json!({ "seconds": 1 })).await, "done");
    }

    async fn a_call_executes_one_transaction_before_its_handler_and_none_without_limits(revision) {
        let [store, _] = NodeStore::pair();
        let mut client = connect(node(&store), revision).await;
        store.executed();
        for _ in 0..5 {
            said(&mut client, "unlimited", json!({})).await;
            client.tools().await.unwrap();
        }
        assert_eq!(store.executed(), Vec::<String>::new());
        said(&mut client, "often", json!({})).await;
        assert_eq!(store.executed(), ["pass"]);
        said(&mut client, "slow", json!({ "seconds": 1 })).await;
        assert_eq!(store.executed(), ["enter", "leave"]);
        said(&mut client, "both", json!({ "seconds": 1 })).await;
        assert_eq!(store.executed(), ["enter pass", "leave"]);
    }

    async fn callers_without_a_name_are_counted_by_the_node_that_knows_them(revision) {
        let stores = NodeStore::pair();
        for store in &stores {
            let mut client = connect(node(store), revision).await;
            for _ in 0..3 {
                assert!(!said(&mut client, "often", json!({})).await.starts_with("error"));
            }
            let text = "error: `often` may be called twice a second; try again in 0.5 s";
            assert_eq!(said(&mut client, "often", json!({})).await, text);
        }
    }

    async fn the_limits_of_the_server_and_of_items_added_at_run_time_are_shared(revision) {
        struct Added;
        let stores = NodeStore::pair();
        let served = |store: &NodeStore| {
            node(store).concurrency(1).rate(Rate::per_hour(100)).setup(async |server: Handle| {
                let waits = async |_: Context| {
                    tokio::time::sleep(Duration::from_secs(5)).await;
                    "waited"
                };
                server.add(Tool::new("added").handler(waits))?;
                Ok::<_, Error>(Added)
            })
        };
        let mut one = connect(served(&stores[0]), revision).await;
        let mut other = connect(served(&stores[1]), revision).await;
        let ongoing = one.start("tools/call", json!({ "name": "added", "arguments": {} }));
        pass(Duration::from_millis(10)).await;
        let text = "error: a call of `added` is running already: wait until it has ended";
        assert_eq!(said(&mut other, "added", json!({})).await, text);
        one.wait(ongoing).await.unwrap();
        assert_eq!(said(&mut other, "added", json!({})).await, "waited");
    }
}

/// The client leaves without a word, which ends its calls.
#[tokio::test(start_paused = true)]
async fn a_client_that_leaves_gives_its_places_back() {
    let stores = NodeStore::pair();
    let mut one = connect(node(&stores[0]), Revision::V2026_07_28).await;
    let mut other = connect(node(&stores[1]), Revision::V2026_07_28).await;
    let _ongoing =
        one.start("tools/call", json!({ "name": "fragile", "arguments": { "way": "waits" } }));
    pass(Duration::from_millis(10)).await;
    assert_eq!(said(&mut other, "fragile", json!({ "way": "well" })).await, TAKEN);
    drop(one);
    pass(Duration::from_millis(10)).await;
    assert_eq!(said(&mut other, "fragile", json!({ "way": "well" })).await, "well");
}

#[tool(task, concurrency = 1)]
async fn report(seconds: u64) -> &'static str {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    "reported"
}

/// A task keeps the place of its call until it ends, and a rejected call makes no task.
#[tokio::test(start_paused = true)]
async fn a_task_keeps_the_place_of_its_call() {
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let stores = NodeStore::pair();
        let can = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
        let mut clients = Vec::new();
        for store in &stores {
            let server = server!().items(items![report]).store(store.clone());
            let client = TestClient::connect_capable(server, revision, can.clone()).await;
            clients.push(client.unwrap());
        }
        let mut call = json!({ "name": "report", "arguments": { "seconds": 90 } });
        if revision == Revision::V2025_11_25 {
            call["task"] = json!({});
        }
        let made = clients[0].request("tools/call", call.clone()).await.unwrap();
        assert!(made.to_string().contains("taskId"), "{made}");
        for _ in 0..8 {
            let text = "a call of `report` is running already: wait until it has ended";
            match clients[1].request("tools/call", call.clone()).await {
                Ok(result) => assert_eq!(result["content"][0]["text"], text, "{revision}"),
                Err(error) => assert_eq!((error.code, &*error.message), (-32603, text)),
            }
            pass(Duration::from_secs(11)).await;
        }
        pass(Duration::from_secs(5)).await;
        let made = clients[1].request("tools/call", call).await.unwrap();
        assert!(made.to_string().contains("taskId"), "{made}");
    }
}

#[cfg(feature = "auth")]
mod known_callers {
    use mcp_runtime::auth::Authorization;

    use super::*;

    both_eras_paused! {
        async fn the_rate_of_a_known_caller_is_counted_once_for_all_nodes(revision) {
            let stores = NodeStore::pair();
            let mut clients = Vec::new();
            for store in &stores {
                clients.push(connect(node(store), revision).await);
            }
            let refusal = "error: `often` may be called twice a second; try again in 0.5 s";
            for name in ["ada", "bob"] {
                for client in &mut clients {
                    client.authorization(Authorization::new(name));
                }
                for number in [0, 1, 0] {
                    let answer = said(&mut clients[number], "often", json!({})).await;
                    assert!(!answer.starts_with("error"), "{answer}");
                }
                for client in &mut clients {
                    assert_eq!(said(client, "often", json!({})).await, refusal, "{name}");
                }
            }
            tokio::time::advance(Duration::from_millis(500)).await;
            assert!(!said(&mut clients[1], "often", json!({})).await.starts_with("error"));
            assert_eq!(said(&mut clients[0], "often", json!({})).await, refusal);
            assert_eq!(said(&mut clients[0], "refusals", json!({})).await, "3 0");
        }

        async fn a_call_without_a_place_does_not_count_toward_the_rate(revision) {
            let stores = NodeStore::pair();
            let mut one = connect(node(&stores[0]), revision).await;
            let mut other = connect(node(&stores[1]), revision).await;
            for client in [&mut one, &mut other] {
                client.authorization(Authorization::new("ada"));
            }
            let ongoing = one.start("tools/call", json!({ "name": "both", "arguments": { "seconds": 1 } }));
            pass(Duration::from_millis(10)).await;
            let text = "error: a call of `both` is running already: wait until it has ended";
            for _ in 0..10 {
                assert_eq!(said(&mut other, "both", json!({ "seconds": 1 })).await, text);
            }
            one.wait(ongoing).await.unwrap();
            for _ in 0..3 {
                assert_eq!(said(&mut other, "both", json!({ "seconds": 1 })).await, "done");
            }
            let answer = said(&mut one, "both", json!({ "seconds": 1 })).await;
            assert!(answer.contains("may be called once an hour; try again in"), "{answer}");
        }
    }
}
