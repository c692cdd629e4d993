//! Copies of a session at several nodes: settings and clients that each copy has to learn, and messages that it must handle only once.

use std::{net::SocketAddr, sync::Arc};

use mcp_runtime::{
    prelude::*,
    store::{Follower, LogEvent, MemoryStore, Store, StoreFuture, Transaction, TransactionResult},
};
use serde_json::{Value, json};
use support::clock::eventually;
use tokio::sync::watch;
use tracing_subscriber::layer::SubscriberExt as _;

use crate::{
    client::{SOON, Session, Stream, initialize_as, message, plain_call, run, text_of},
    nodes::{Cluster, change, notification, today},
    shared_sessions::logs,
};

/// Returns the number of the client's roots.
#[tool]
async fn counts_roots(roots: Roots) -> Result<String> {
    Ok(roots.list().await?.len().to_string())
}

/// Capabilities of a client that reports changes of its roots.
fn with_roots() -> Value {
    json!({ "roots": { "listChanged": true } })
}

/// Opens a session of a client that has roots.
async fn begin_with_roots(at: SocketAddr, revision: &'static str) -> Session {
    let reply = initialize_as(revision, with_roots()).ask(at).await;
    let id = reply.head.get("mcp-session-id").unwrap();
    let session = Session { address: at, revision, id };
    let initialized = notification("notifications/initialized", json!({}));
    assert_eq!(session.post(&initialized).ask(at).await.status(), 202);
    session
}

/// Calls `counts_roots` at a node. If the node asks for the roots, the client has this number of them. Returns whether the node has asked,
/// and the number that the call returns.
async fn count_roots(session: &Session, at: SocketAddr, id: u64, roots: usize) -> (bool, String) {
    let mut stream = session.call(id, "counts_roots", json!({})).open(at).await;
    if !stream.head.is_stream() {
        let body = stream.connection.body(SOON).await.unwrap();
        return (false, text_of(&serde_json::from_slice(&body).unwrap()));
    }
    let mut has_asked = false;
    loop {
        let message = stream.message().await.expect("the result of the call");
        if message["method"] != "roots/list" {
            return (has_asked, text_of(&message));
        }
        has_asked = true;
        let root = |number: usize| json!({ "uri": format!("file:///{number}") });
        let roots: Vec<_> = (0..roots).map(root).collect();
        let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": { "roots": roots } });
        assert_eq!(session.post(&answer).ask(at).await.status(), 202);
    }
}

/// Subscribes to the notes of today, and opens the stream for their updates at a node.
async fn updates(session: &Session, at: SocketAddr) -> Stream {
    let subscribe = message("notes", "resources/subscribe", json!({ "uri": "notes://today" }));
    assert_eq!(session.post(&subscribe).ask(at).await.status(), 200);
    session.get().open(at).await.check_events()
}

/// Returns when the node of a stream of updates has read all messages that are in the log of the nodes now. An update of another node comes
/// after all of them.
async fn has_read_the_log(updates: &mut Stream, other: SocketAddr) {
    assert_eq!(plain_call(1, "change", json!({})).ask(other).await.text(), "Done.");
    let update = updates.message().await.expect("an update");
    assert_eq!(update["params"]["uri"], "notes://today", "{update}");
}

#[support::test]
fn a_first_setting_that_the_store_did_not_take_is_stored_when_the_client_repeats_it() {
    // The nodes run on the threads of this test alone, so other tests are not affected.
    let layer = tracing_subscriber::registry().with(mcp_runtime::logging::client_log());
    let _logging = tracing::subscriber::set_default(layer);
    run(async {
        let cluster = Cluster::start_with(|server| server.items(items![logs, today, change])).await;
        let [one, two, three] = cluster.addresses;
        let level = message(1, "logging/setLevel", json!({ "level": "debug" }));
        let initialized = notification("notifications/initialized", json!({}));
        for (setting, accepted) in [(&level, 200), (&initialized, 202)] {
            let session = Session::open(one, "2025-11-25").await;
            let ping = session.post(&message(0, "ping", json!({}))).ask(one).await;
            assert_eq!(ping.status(), 200);
            cluster.store.set_away(true);
            assert_eq!(session.post(setting).ask(one).await.status(), 503);
            cluster.store.set_away(false);
            assert_eq!(session.post(setting).ask(one).await.status(), accepted);
            if accepted == 200 {
                let call = session.call(2, "logs", json!({})).ask(two).await;
                let body = String::from_utf8(call.body).unwrap();
                assert_eq!(body.matches("jsonrpc").count(), 2, "{body}");
            } else {
                let mut updates = updates(&session, two).await;
                has_read_the_log(&mut updates, three).await;
            }
        }
        cluster.stop().await;
    });
}

#[support::test]
fn a_session_that_is_initialized_again_keeps_no_roots_of_its_previous_client_at_any_node() {
    run(async {
        let cluster = Cluster::start_with(|server| server.items(items![counts_roots])).await;
        let [one, two, _] = cluster.addresses;
        let old = begin_with_roots(one, "2025-06-18").await;
        assert_eq!(count_roots(&old, two, 1, 1).await, (true, "1".to_owned()));
        assert_eq!(count_roots(&old, two, 2, 1).await, (false, "1".to_owned()));
        let again = initialize_as("2025-11-25", with_roots());
        let again = again.header("Mcp-Session-Id", &*old.id).ask(one).await;
        assert_eq!(again.json()["result"]["protocolVersion"], "2025-11-25", "{again:?}");
        let new = Session { address: one, revision: "2025-11-25", id: old.id.clone() };
        assert_eq!(count_roots(&new, two, 3, 2).await, (true, "2".to_owned()));
        cluster.stop().await;
    });
}

#[support::test]
fn a_long_message_that_the_roots_have_changed_reaches_nodes_without_calls() {
    run(async {
        let cluster =
            Cluster::start_with(|server| server.items(items![counts_roots, today, change])).await;
        let [one, two, three] = cluster.addresses;
        for revision in ["2025-03-26", "2025-11-25"] {
            let session = begin_with_roots(one, revision).await;
            let mut updates = updates(&session, two).await;
            assert!(count_roots(&session, two, 1, 1).await.0);
            assert!(!count_roots(&session, two, 2, 1).await.0);
            let params = json!({ "_meta": { "padding": "x".repeat(5000) } });
            let changed = notification("notifications/roots/list_changed", params);
            let posted = if revision == "2025-03-26" { json!([changed]) } else { changed };
            assert_eq!(session.post(&posted).ask(one).await.status(), 202);
            // No call runs at the node while it reads the message.
            has_read_the_log(&mut updates, three).await;
            let mut id = 2;
            eventually("the question for the roots", async || {
                id += 1;
                let (has_asked, count) = count_roots(&session, two, id, 2).await;
                (has_asked && count == "2").then_some(())
            })
            .await;
            drop(updates);
        }
        cluster.stop().await;
    });
}

/// Store whose log of the nodes a test can hold back, so that the nodes read no messages for a while.
#[derive(Clone)]
struct HeldLog {
    memory: Arc<MemoryStore>,
    is_held: watch::Sender<bool>,
}

impl HeldLog {
    fn new() -> Self {
        Self { memory: Arc::new(MemoryStore::new().shared()), is_held: watch::Sender::new(false) }
    }
}

impl Store for HeldLog {
    fn is_shared(&self) -> bool {
        true
    }

    fn execute(&self, transactions: Vec<Transaction>) -> StoreFuture<'_, Vec<TransactionResult>> {
        self.memory.execute(transactions)
    }

    fn follow(&self, partition: &str, log: &str, after: u64) -> Box<dyn Follower> {
        let follower = self.memory.follow(partition, log, after);
        if partition != "nodes" {
            return follower;
        }
        Box::new(HeldFollower { follower, is_held: self.is_held.subscribe(), read: None })
    }
}

struct HeldFollower {
    follower: Box<dyn Follower>,
    is_held: watch::Receiver<bool>,
    read: Option<LogEvent>,
}

impl Follower for HeldFollower {
    fn next(&mut self) -> StoreFuture<'_, LogEvent> {
        Box::pin(async {
            if self.read.is_none() {
                self.read = Some(self.follower.next().await?);
            }
            // The test is over if there is no sender.
            let _ = self.is_held.wait_for(|is_held| !is_held).await;
            Ok(self.read.take().expect("an event"))
        })
    }
}

#[support::test]
fn a_cancellation_that_a_node_reads_again_later_does_not_cancel_a_new_call_with_the_same_id() {
    run(async {
        let store = HeldLog::new();
        let cluster = Cluster::start_with(|server| server.store(store.clone())).await;
        let [one, two, _] = cluster.addresses;
        for revision in ["2025-03-26", "2025-11-25"] {
            let session = Session::begin(one, revision).await;
            let mut updates = updates(&session, one).await;
            store.is_held.send_replace(true);
            let cancel = notification("notifications/cancelled", json!({ "requestId": "call" }));
            let posted = if revision == "2025-03-26" { json!([cancel]) } else { cancel };
            assert_eq!(session.post(&posted).ask(one).await.status(), 202);
            cluster.permit(1);
            let mut call = session.call("call", "steps", json!({})).open(one).await.check_events();
            assert_eq!(call.message().await.unwrap()["method"], "notifications/progress");
            store.is_held.send_replace(false);
            has_read_the_log(&mut updates, two).await;
            cluster.permit(3);
            let rest = call.rest().await;
            assert_eq!(rest.last().expect("the result of the call")["id"], "call", "{revision}");
            drop(updates);
        }
        cluster.stop().await;
    });
}
