//! Memory of the nodes and of Redis: the memory of each session, and the growth while clients send requests at a steady rate.

use std::{
    collections::BTreeSet, env, fs, future::Future, net::SocketAddr, sync::Arc, time::Duration,
};

use serde_json::json;
use support::{
    clock::{Stopwatch, eventually, pause},
    cluster::ServerCluster,
    requirement::needs,
};
use tokio::task::JoinSet;

use crate::{
    client::{Session, message, plain_call, run_within},
    report,
    server::fixture,
};

/// Number of requests at a time.
const AT_ONCE: usize = 16;

/// Runs some of the futures at a time, and returns their results.
pub(crate) async fn some_at_once<F>(work: impl IntoIterator<Item = F>) -> Vec<F::Output>
where
    F: Future<Output: Send> + Send + 'static,
{
    let (mut running, mut results) = (JoinSet::new(), Vec::new());
    for work in work {
        if running.len() == AT_ONCE {
            results.extend(running.join_next().await.map(|result| result.expect("no panic")));
        }
        running.spawn(work);
    }
    results.extend(running.join_all().await);
    results
}

/// Memory of a cluster.
struct Memory {
    /// Resident memory of all nodes, in bytes.
    nodes: usize,
    /// Memory of the data in Redis, in bytes.
    redis: usize,
    /// Number of transactions that Redis has executed.
    transactions: usize,
}

impl Memory {
    fn of(cluster: &ServerCluster) -> Self {
        let resident = |pid: u32| {
            let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("the node runs");
            let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a size");
            let size = line.trim().trim_end_matches(" kB").parse::<usize>();
            size.expect("a number of KiB") << 10
        };
        let info = cluster.redis.cli(&["INFO", "memory"]);
        let used = info.lines().find_map(|line| line.strip_prefix("used_memory:")).expect("a size");
        let info = cluster.redis.cli(&["INFO", "commandstats"]);
        let calls = info.lines().find_map(|line| line.strip_prefix("cmdstat_evalsha:calls="));
        let calls = calls.and_then(|line| line.split(',').next()).expect("a number of calls");
        Self {
            transactions: calls.parse().expect("a number"),
            nodes: cluster.pids().into_iter().map(resident).sum(),
            redis: used.trim().parse().expect("a number of bytes"),
        }
    }
}

/// Returns all keys in Redis.
fn all_keys(cluster: &ServerCluster) -> BTreeSet<String> {
    let keys = cluster.redis.cli(&["--raw", "KEYS", "*"]);
    keys.lines().filter(|key| !key.is_empty()).map(str::to_owned).collect()
}

/// Returns the keys in Redis that belong to sessions, streams or tasks, and not to the nodes themselves.
pub(crate) fn keys(cluster: &ServerCluster) -> Vec<String> {
    let of_nodes = ["{pnodes}", "{pstate-keys}"];
    let is_left = |key: &String| !of_nodes.iter().any(|own| key.contains(own));
    all_keys(cluster).into_iter().filter(is_left).collect()
}

/// Opens sessions, calls each at another node, and ends them. Prints the memory for each session.
fn check_sessions(count: usize) {
    let cluster = needs(ServerCluster::start(fixture()));
    run_within(Duration::from_secs(600), async {
        let address = cluster.address;
        let open = async |count: usize| -> Vec<Arc<Session>> {
            some_at_once(
                (0..count)
                    .map(|_| async move { Arc::new(Session::begin(address, "2025-11-25").await) }),
            )
            .await
        };
        let end = async |sessions: Vec<Arc<Session>>| {
            some_at_once(sessions.into_iter().map(|session| async move {
                assert_eq!(session.delete().ask(address).await.status(), 204);
            }))
            .await;
        };
        end(open(200).await).await;
        eventually("an empty store", async || keys(&cluster).is_empty().then_some(())).await;
        let before = Memory::of(&cluster);
        let sessions = open(count).await;
        let opened = Memory::of(&cluster);
        // With three nodes in turn, two further requests reach nodes that did not begin the session.
        for _ in 0..2 {
            some_at_once(sessions.iter().cloned().map(|session| async move {
                let reply = session.call(1, "echo", json!({ "text": "hello" })).ask(address).await;
                assert_eq!(reply.text(), "hello");
            }))
            .await;
        }
        let used = Memory::of(&cluster);
        let each = |now: usize, before: usize| now.saturating_sub(before) / count;
        let nodes = [each(opened.nodes, before.nodes), each(used.nodes, before.nodes)];
        let redis = [each(opened.redis, before.redis), each(used.redis, before.redis)];
        let transactions = |now: usize, before: usize| (now - before) as f64 / count as f64;
        let opening = transactions(opened.transactions, before.transactions);
        let moving = transactions(used.transactions, opened.transactions) / 2.0;
        report(
            &format!("memory of each of {count} sessions in all nodes together, and in Redis"),
            "–",
            &format!("{} bytes, {} bytes", nodes[0], redis[0]),
        );
        report(
            "the same after calls at all nodes",
            "–",
            &format!("{} bytes, {} bytes", nodes[1], redis[1]),
        );
        report(
            "a session begins through nginx, `notifications/initialized` included: transactions",
            "–",
            &format!("{opening:.2}"),
        );
        report("first call at a further node: transactions", "1", &format!("{moving:.2}"));
        assert!(nodes[1] < 32 << 10, "{} bytes for each session", nodes[1]);
        assert!(redis[1] < 4 << 10, "{} bytes in Redis for each session", redis[1]);
        end(sessions).await;
        eventually("an empty store", async || keys(&cluster).is_empty().then_some(())).await;
        let after = Memory::of(&cluster);
        support::note!(
            "after their end {} bytes more in Redis",
            after.redis.saturating_sub(before.redis)
        );
    });
}

#[support::test]
fn sessions_need_little_memory_and_leave_nothing_in_redis() {
    check_sessions(1000);
}

#[support::test]
#[ignore = "takes a minute: `cargo test --workspace --test cluster -- --ignored --nocapture`"]
fn ten_thousand_sessions_need_little_memory_and_leave_nothing_in_redis() {
    check_sessions(10_000);
}

/// Visit of a client: a session with a subscription, a stream for its updates, a call with reports, and the end of the session.
async fn visit(address: SocketAddr, number: usize) {
    let session = Session::begin(address, "2025-11-25").await;
    let uri = format!("notes://{}", number % 4);
    let subscribe = message(1, "resources/subscribe", json!({ "uri": uri }));
    assert_eq!(session.post(&subscribe).ask(address).await.status(), 200);
    let updates = session.get().open(address).await.check_events();
    let mut steps = session.call(2, "ticks", json!({ "n": 3, "ms": 1 })).open(address).await;
    let last = steps.rest().await;
    assert_eq!(last.last().map(|last| &last["id"]), Some(&json!(2)), "{last:?}");
    let touched = plain_call(3, "touch", json!({ "uris": 4, "times": 1 })).ask(address).await;
    assert_eq!(touched.status(), 200, "{touched:?}");
    let mut updates = updates;
    assert!(updates.message().await.is_some());
    drop(updates);
    assert_eq!(session.delete().ask(address).await.status(), 204);
}

/// Lets clients visit at a steady rate, and compares the memory at the end of the first fifth of the time with that at the end.
fn check_soak(time: Duration) {
    let cluster = needs(ServerCluster::start(fixture()));
    run_within(time + Duration::from_secs(300), async {
        let begun = all_keys(&cluster);
        let watch = Stopwatch::start();
        let (mut visits, mut early) = (0_usize, None);
        while watch.elapsed() < time {
            let due = watch.elapsed().as_millis() as usize * RATE / 1000;
            if visits >= due {
                pause().await;
                continue;
            }
            let some = visits..due.min(visits + AT_ONCE);
            visits += some_at_once(some.map(|number| visit(cluster.address, number))).await.len();
            if early.is_none() && watch.elapsed() >= time / 5 {
                early = Some(Memory::of(&cluster));
            }
        }
        let (early, late) = (early.expect("a fifth of the time has passed"), Memory::of(&cluster));
        support::note!(
            "{visits} visits in {} s: {} KiB in all nodes after a fifth of the time and {} at its end, {} and {} in Redis",
            time.as_secs(),
            early.nodes >> 10,
            late.nodes >> 10,
            early.redis >> 10,
            late.redis >> 10
        );
        assert!(visits >= 10, "{visits}");
        let most = early.nodes + early.nodes / 5 + (8 << 20);
        assert!(late.nodes <= most, "the nodes need {} KiB more", (late.nodes - early.nodes) >> 10);
        // The events of a stream stay for a minute after its end, and so do the messages of the nodes.
        let emptied = Stopwatch::start();
        loop {
            // The log of the nodes stays, with a bounded number of messages, and so does the record by which they notice a full store.
            let is_of_nodes = |key: &str| {
                key.ends_with("{pnodes}:l:messages") || key.ends_with("{pnodes}:r:space")
            };
            let now = all_keys(&cluster).into_iter().filter(|key| !is_of_nodes(key));
            let more: Vec<_> = now.filter(|key| !begun.contains(key)).collect();
            if more.is_empty() {
                break;
            }
            if emptied.elapsed() >= Duration::from_secs(150) {
                let left = |key: &String| cluster.redis.cli(&["PTTL", key]).trim().to_owned();
                let left: Vec<_> = more.iter().map(|key| (key, left(key))).collect();
                panic!("keys that are left, with their milliseconds: {left:?}");
            }
            pause().await;
        }
        let end = Memory::of(&cluster);
        let messages = cluster.redis.cli(&["XLEN", "http-fixture:{pnodes}:l:messages"]);
        let messages: usize = messages.trim().parse().expect("a number of messages");
        support::note!(
            "after the last stream: the {} keys of the beginning and {messages} messages of the nodes, {} KiB in all nodes and {} in Redis",
            begun.len(),
            end.nodes >> 10,
            end.redis >> 10
        );
        assert!(messages <= 16_384, "{messages}");
    });
}

/// Number of visits in a second.
const RATE: usize = 5;

#[support::test]
fn memory_and_keys_return_to_where_they_began_after_a_short_while() {
    check_soak(Duration::from_secs(20));
}

#[support::test]
#[ignore = "takes ten minutes, or `SOAK_SECONDS`: `cargo test --workspace --test cluster -- --ignored --nocapture`"]
fn memory_and_keys_return_to_where_they_began_after_ten_minutes() {
    let seconds = env::var("SOAK_SECONDS").map_or(600, |text| text.parse().expect("a number"));
    check_soak(Duration::from_secs(seconds));
}
