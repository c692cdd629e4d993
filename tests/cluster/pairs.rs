//! Clients of HTTP+SSE (protocol revision 2024-11-05): their streams are at one node each, and their messages arrive at any node.

use std::{net::SocketAddr, time::Duration};

use serde_json::{Value, json};
use support::{
    clock::eventually,
    cluster::{NODES, ServerCluster},
    requirement::needs,
};

use crate::{
    client::{Reply, run_within, text_of, tool_call},
    memory::{keys, some_at_once},
    outages::DURABLE,
    pair::Pair,
    server::fixture,
};

/// Maximum time of a test. A request that Redis does not answer takes up to a second, and a busy machine needs more.
const MOST: Duration = Duration::from_secs(240);

/// Number of clients.
const CLIENTS: usize = 48;

fn echo(id: usize, text: &str) -> Value {
    tool_call(id, "echo", json!({ "text": text }))
}

async fn post(pair: &Pair, node: SocketAddr, message: &Value) -> Reply {
    pair.request(message).ask(node).await
}

/// Reads the stream up to the answer to a call, and returns its text.
async fn answer(pair: &mut Pair, id: usize) -> String {
    loop {
        let message = pair.stream.message().await.expect("an answer");
        if message["id"] == id {
            return text_of(&message);
        }
    }
}

/// Returns the keys of streams, and of messages for the nodes of streams.
fn keys_of_pairs(cluster: &ServerCluster) -> Vec<String> {
    let all = cluster.redis.cli(&["--raw", "KEYS", "*relayed*"]);
    let relayed = all.lines().filter(|line| !line.is_empty()).map(str::to_owned);
    keys(cluster).into_iter().chain(relayed).collect()
}

/// Opens a stream, posts messages to all nodes, and leaves. Returns the process that has answered.
async fn visit(address: SocketAddr, nodes: [SocketAddr; NODES], client: usize) -> String {
    // nginx sends the stream to one node, and each message to the next.
    let mut pair = Pair::begin(address).await;
    let process = tool_call("process", "process_id", json!({}));
    let mut processes = Vec::new();
    for node in nodes {
        assert_eq!(post(&pair, node, &process).await.status(), 202);
        processes.push(text_of(&pair.stream.message().await.expect("an answer")));
    }
    // All calls run at the node of the stream.
    assert!(processes.iter().all(|process| *process == processes[0]), "{processes:?}");
    for at in 0..4 {
        // Long messages reach the node in the same way as short messages.
        let text = format!("{client} {at} ").repeat(1 + at % 2 * 5000);
        pair.post(&echo(at, &text)).await;
        assert_eq!(answer(&mut pair, at).await, text);
    }
    let mut steps = 0;
    pair.post(&tool_call("ticks", "ticks", json!({ "n": 3, "ms": 1 }))).await;
    loop {
        let message = pair.stream.message().await.expect("an answer");
        if message["id"] == "ticks" {
            break;
        }
        assert_eq!(message["method"], "notifications/progress", "{message}");
        steps += 1;
    }
    assert!(steps > 0);
    processes.remove(0)
}

#[support::test]
fn messages_at_any_node_are_answered_on_the_stream_and_leave_nothing_in_redis() {
    let cluster = needs(ServerCluster::start(fixture()));
    run_within(MOST, async {
        let (nodes, address) = ([0, 1, 2].map(|node| cluster.node(node)), cluster.address);
        let pids = cluster.pids();
        let visits = (0..CLIENTS).map(|client| visit(address, nodes, client));
        let processes = some_at_once(visits).await;
        for pid in pids {
            assert!(processes.contains(&pid.to_string()), "no client had its stream at {pid}");
        }
        eventually("an empty store", async || keys_of_pairs(&cluster).is_empty().then_some(()))
            .await;
    });
}

#[support::test]
fn a_cancellation_at_another_node_ends_the_call() {
    let cluster = needs(ServerCluster::start(fixture()));
    run_within(MOST, async {
        let nodes = [0, 1, 2].map(|node| cluster.node(node));
        let mut pair = Pair::begin_at([nodes[0], nodes[1]]).await;
        let spin = tool_call("spin", "spin", json!({}));
        assert_eq!(post(&pair, nodes[1], &spin).await.status(), 202);
        spinning(&mut pair, nodes[2], "1").await;
        let cancelled = json!({
            "jsonrpc": "2.0",
            "method": "notifications/cancelled",
            "params": { "requestId": "spin" },
        });
        assert_eq!(post(&pair, nodes[2], &cancelled).await.status(), 202);
        spinning(&mut pair, nodes[1], "0").await;
    });
}

/// Waits until so many calls of `spin` run.
async fn spinning(pair: &mut Pair, node: SocketAddr, expected: &str) {
    let count = tool_call(1, "spinning", json!({}));
    eventually("the count of calls", async || {
        assert_eq!(post(pair, node, &count).await.status(), 202);
        (answer(pair, 1).await == expected).then_some(())
    })
    .await;
}

#[support::test]
fn clients_begin_again_when_the_node_of_their_stream_is_gone() {
    let mut cluster = needs(ServerCluster::start(fixture()));
    run_within(MOST, async {
        let nodes = [0, 1, 2].map(|node| cluster.node(node));
        let mut pairs = Vec::new();
        for node in 0..NODES {
            pairs.push(Pair::begin_at([nodes[node], nodes[(node + 1) % NODES]]).await);
        }
        // A node that stops says so.
        let stopped = tokio::task::spawn_blocking({
            let node = cluster.take(0);
            move || node.stop()
        });
        assert!(stopped.await.unwrap().success());
        let gone = post(&pairs[0], nodes[1], &echo(1, "hello")).await;
        // On a busy machine, Redis may answer too late.
        assert!([404, 503].contains(&gone.status()), "{gone:?}");
        // The lease of a node that is killed has to end.
        drop(cluster.take(1));
        eventually("the session to be unknown", async || {
            let reply = post(&pairs[1], nodes[2], &echo(1, "hello")).await;
            assert!([202, 404, 503].contains(&reply.status()), "{reply:?}");
            (reply.status() == 404).then_some(())
        })
        .await;
        assert_eq!(post(&pairs[2], nodes[2], &echo(2, "hello")).await.status(), 202);
        assert_eq!(answer(&mut pairs[2], 2).await, "hello");
        let mut anew = Pair::begin(cluster.address).await;
        anew.post(&echo(3, "again")).await;
        assert_eq!(answer(&mut anew, 3).await, "again");
    });
}

/// Checks the answers while Redis is stopped: the node of the stream goes on with a call that needs no store, and other nodes refuse.
async fn check_away(pair: &mut Pair, nodes: &[SocketAddr]) {
    for node in &nodes[1..] {
        let refused = post(pair, *node, &echo(1, "away")).await;
        refused.check_busy("the store of the sessions");
    }
    assert_eq!(post(pair, nodes[0], &echo(2, "here")).await.status(), 202);
    assert_eq!(answer(pair, 2).await, "here");
}

/// Waits until a node reaches Redis again. It then accepts a message, or knows that there is no such session.
async fn reaches_redis(pair: &Pair, node: SocketAddr) {
    eventually("the node to reach Redis", async || {
        (post(pair, node, &echo(1, "there")).await.status() != 503).then_some(())
    })
    .await;
}

/// Waits until a node accepts a message again, and checks its answer.
async fn check_accepted(pair: &mut Pair, node: SocketAddr, id: usize) {
    eventually("the message to be accepted", async || {
        (post(pair, node, &echo(id, "back")).await.status() == 202).then_some(())
    })
    .await;
    assert_eq!(answer(pair, id).await, "back");
}

/// A restarted Redis may have lost its last writes, and with them messages of clients. So the stream of a client that posts to other nodes ends.
#[support::test]
fn clients_go_on_or_begin_again_after_redis_was_stopped_and_has_its_data_again() {
    let mut cluster = needs(ServerCluster::start_for_outage(fixture(), DURABLE));
    run_within(MOST, async {
        let nodes = [0, 1, 2].map(|node| cluster.node(node));
        let mut pair = Pair::begin_at([nodes[0], nodes[1]]).await;
        cluster.redis.stop();
        check_away(&mut pair, &nodes).await;
        cluster.redis.restart();
        for node in &nodes[1..] {
            reaches_redis(&pair, *node).await;
        }
        if pair.stream.message().await.is_none() {
            pair = Pair::begin_at([nodes[0], nodes[1]]).await;
        }
        for (at, node) in nodes.into_iter().enumerate() {
            check_accepted(&mut pair, node, 3 + at).await;
        }
    });
}

#[support::test]
fn clients_begin_again_after_redis_has_lost_their_messages() {
    let mut cluster = needs(ServerCluster::start_for_outage(fixture(), &[]));
    run_within(MOST, async {
        let nodes = [0, 1, 2].map(|node| cluster.node(node));
        let mut passing = Pair::begin_at([nodes[0], nodes[1]]).await;
        let mut staying = Pair::begin(nodes[0]).await;
        cluster.redis.stop();
        check_away(&mut passing, &nodes).await;
        cluster.redis.restart();
        // The first message in the new log shows the node of the stream that earlier ones may be lost.
        for node in &nodes[1..] {
            reaches_redis(&passing, *node).await;
        }
        let mut anew = Pair::begin(nodes[1]).await;
        check_accepted(&mut anew, nodes[2], 1).await;
        assert!(passing.stream.message().await.is_none());
        // The node of the other stream stores its record again.
        check_accepted(&mut staying, nodes[2], 1).await;
    });
}
