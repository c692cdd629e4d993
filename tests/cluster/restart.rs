//! Nodes that are restarted in turn while clients work.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, json};
use support::{
    clock::{Stopwatch, eventually},
    cluster::{NODES, ServerCluster},
    http::connection::Connection,
    requirement::needs,
};
use tokio::task::JoinSet;

use crate::{
    client::{Reply, SOON, Session, message, plain_call, run_within},
    server::fixture,
};

/// Number of clients that call without a pause, half of them in a session.
const CLIENTS: usize = 8;

/// Number of clients that wait for updates.
const LISTENERS: usize = 4;

/// Answers that clients got.
#[derive(Default)]
struct Answers {
    good: usize,
    bad: Vec<String>,
}

impl Answers {
    fn add(&mut self, reply: &Reply, expected: &str) {
        if reply.status() == 200 && reply.text() == expected {
            self.good += 1;
        } else {
            self.bad.push(format!("{}: {}", reply.status(), String::from_utf8_lossy(&reply.body)));
        }
    }
}

#[support::test]
fn clients_notice_nothing_when_the_nodes_are_restarted_in_turn() {
    let mut cluster = needs(ServerCluster::start(fixture()));
    run_within(Duration::from_secs(300), async {
        let address = cluster.address;
        let (is_over, answered) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let mut calling = JoinSet::new();
        for client in 0..CLIENTS {
            let (is_over, answered) = (is_over.clone(), answered.clone());
            calling.spawn(async move {
                let session = Session::begin(address, "2025-11-25").await;
                let mut answers = Answers::default();
                let mut last = false;
                for number in 0_u64.. {
                    let text = format!("{client} {number}");
                    // Some calls run when their node gets the signal to stop.
                    let arguments = json!({ "ms": number % 5 * 20, "text": text });
                    let reply = if client % 2 == 0 {
                        session.call(number, "wait", arguments).ask(address).await
                    } else {
                        plain_call(number, "wait", arguments).ask(address).await
                    };
                    answers.add(&reply, &text);
                    answered.fetch_add(1, Ordering::SeqCst);
                    // Each client calls once more after the last restart.
                    if std::mem::replace(&mut last, is_over.load(Ordering::SeqCst)) {
                        break;
                    }
                }
                answers
            });
        }
        let mut listening = JoinSet::new();
        for listener in 0..LISTENERS {
            let session = Session::begin(address, "2025-11-25").await;
            let uri = format!("notes://{listener}");
            let subscribe = message(1, "resources/subscribe", json!({ "uri": uri }));
            assert_eq!(session.post(&subscribe).ask(address).await.status(), 200);
            let mut stream = session.get().open(address).await.check_events();
            listening.spawn(async move {
                let mut streams = 1;
                loop {
                    match stream.message_until_break().await {
                        Some(update) => return (uri, update, streams),
                        None => {
                            let request = match stream.last.clone() {
                                Some(last) => session.resume(&last),
                                None => session.get(),
                            };
                            stream = request.open(address).await.check_events();
                            streams += 1;
                        }
                    }
                }
            });
        }
        for node in 0..NODES {
            let before = answered.load(Ordering::SeqCst);
            eventually("calls before the next restart", async || {
                (answered.load(Ordering::SeqCst) >= before + 100).then_some(())
            })
            .await;
            let restarted = tokio::task::spawn_blocking(move || {
                let ended = cluster.take(node).stop();
                assert!(ended.success(), "node {node}: {ended}");
                cluster.start_node(node);
                cluster
            });
            cluster = restarted.await.unwrap();
            let new = cluster.pid(node).to_string();
            eventually("nginx to send requests to the new process", async || {
                let reply = plain_call(1, "process_id", json!({})).ask(address).await;
                (reply.status() == 200 && reply.text() == new).then_some(())
            })
            .await;
        }
        is_over.store(true, Ordering::SeqCst);
        let answers = calling.join_all().await;
        let good: usize = answers.iter().map(|answers| answers.good).sum();
        let bad: Vec<_> = answers.into_iter().flat_map(|answers| answers.bad).collect();
        support::note!("{good} calls were answered, and {} failed: {bad:?}", bad.len());
        assert!(good >= 100 * NODES, "{good}");
        assert!(bad.is_empty(), "{bad:?}\n{}", cluster.nginx_log());

        let touch = json!({ "uris": LISTENERS, "times": 1 });
        let touched = plain_call(1, "touch", touch).ask(address).await;
        assert_eq!(touched.status(), 200, "{touched:?}");
        let mut reopened = 0;
        for (uri, update, streams) in listening.join_all().await {
            assert_eq!(update["params"]["uri"], uri, "{update}");
            assert_ne!(update, Value::Null);
            reopened += streams - 1;
        }
        support::note!("{LISTENERS} clients have opened their streams {reopened} more times");
        assert!(reopened >= LISTENERS, "{reopened}");
    });
}

/// Lets nginx send requests while a node stops. Returns their statuses, and the time from the signal to the last answer.
async fn statuses_of_a_late_nginx() -> (Vec<u16>, Duration) {
    const LATE: Duration = Duration::from_millis(600);
    let mut cluster = needs(ServerCluster::start(fixture()));
    let request = plain_call(1, "echo", json!({ "text": "x" })).bytes();
    // nginx keeps a connection to each node, and each of these clients keeps one to nginx.
    let mut clients = Vec::new();
    for _ in 0..2 * NODES {
        let mut client = Connection::open(cluster.address).await.unwrap();
        client.send_all(&request, SOON).await.unwrap();
        assert_eq!(client.head(false, SOON).await.unwrap().status, 200);
        client.body(SOON).await.unwrap();
        clients.push(client);
    }
    cluster.pause_nginx();
    for client in &mut clients {
        client.send_all(&request, SOON).await.unwrap();
    }
    let node = cluster.take(0);
    let since = Stopwatch::start();
    let stopping = tokio::task::spawn_blocking(move || node.stop());
    eventually("the listener closes", async || Connection::open(cluster.node(0)).await.err()).await;
    let closed = Stopwatch::start();
    eventually("nginx to be late", async || (closed.elapsed() >= LATE).then_some(())).await;
    cluster.resume_nginx();
    let mut statuses = Vec::new();
    for client in &mut clients {
        statuses.push(client.head(false, SOON).await.unwrap().status);
    }
    let took = since.elapsed();
    assert!(stopping.await.unwrap().success());
    (statuses, took)
}

/// nginx does not repeat a request that it has sent on a connection that the node had closed.
#[support::test]
fn a_stopping_node_answers_requests_that_nginx_sends_late() {
    /// Time for which a node waits for such requests: `LAST_REQUEST_OF_PROXY` of the HTTP transport.
    const WAITS: Duration = Duration::from_secs(2);
    run_within(Duration::from_secs(300), async {
        // On a busy machine, nginx may be later than the node waits. Such a run proves nothing.
        for _ in 0..5 {
            let (statuses, took) = statuses_of_a_late_nginx().await;
            if statuses.iter().all(|status| *status == 200) {
                return;
            }
            assert!(took >= WAITS, "{statuses:?} after {took:?}");
        }
        panic!("nginx is always later than a node waits");
    });
}
