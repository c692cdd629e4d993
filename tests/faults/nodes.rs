//! Several servers on one store, as nodes behind a load balancer that sends each request to any of them.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use mcp_runtime::{
    Builder,
    auth::StaticTokens,
    prelude::*,
    store::{
        Follower, MemoryStore, Output, Store, StoreError, StoreFuture, StoreOperation, Transaction,
        TransactionResult,
    },
};
use serde_json::{Value, json};
use support::clock::eventually;
use tokio::{
    sync::{Semaphore, oneshot},
    task::JoinHandle,
};

use crate::client::{Request, Session, initialize_as, message, modern, plain_call, run};

const REVISIONS: [&str; 3] = ["2025-03-26", "2025-06-18", "2025-11-25"];

/// Name of a node, as state of its server.
#[derive(Clone)]
pub(crate) struct Name(&'static str);

/// Returns the node that runs the call.
#[tool]
pub(crate) fn node(name: &Name) -> &'static str {
    name.0
}

/// Notes of today.
#[resource("notes://today", subscribe)]
pub(crate) fn today() -> &'static str {
    "Buy milk"
}

/// Reports that the notes have changed.
#[tool]
pub(crate) fn change(handle: Handle) {
    handle.updated("notes://today");
}

/// Notes of tomorrow.
#[resource("notes://tomorrow", subscribe)]
fn tomorrow() -> &'static str {
    "Buy bread"
}

/// Changes the notes of tomorrow.
#[tool]
fn change_tomorrow(handle: Handle) {
    handle.updated("notes://tomorrow");
}

#[form]
struct Answer {
    word: String,
}

/// Asks the user for a word.
#[tool]
async fn asks(elicit: Elicit) -> Result<String> {
    Ok(elicit.form::<Answer>("word", "Which word?").await?.word)
}

/// Returns the number of requests to the store and of those that failed.
#[tool]
fn store_requests(handle: Handle) -> Result<String> {
    let stats = handle.stats();
    let store = stats.store().ok_or_else(|| Error::msg("the store is not shared"))?;
    Ok(format!("{} {}", store.requests(), store.failed()))
}

/// Returns the number of servers and of their sessions.
#[tool]
async fn shared_counts(handle: Handle) -> Result<String> {
    let stats = handle.shared_stats().await?;
    let stats = stats.ok_or_else(|| Error::msg("the store is not shared"))?;
    Ok(format!("{} {}", stats.servers(), stats.sessions()))
}

/// Reports three steps and returns, each as soon as there is a permit.
#[tool]
async fn steps(progress: Progress, pace: &Pace) {
    for _ in 0..3 {
        pace.0.acquire().await.unwrap().forget();
        progress.step();
    }
    pace.0.acquire().await.unwrap().forget();
}

/// Runs at most ten times in a second at all nodes together.
#[tool(rate = "10/s")]
fn seldom() {}

/// Runs as a task until there is a permit.
#[tool(task)]
async fn later(pace: &Pace) -> &'static str {
    pace.0.acquire().await.unwrap().forget();
    "done"
}

/// Permits for the next steps of `steps` and `later`.
#[derive(Clone)]
struct Pace(Arc<Semaphore>);

/// Waits until it is cancelled.
#[tool]
pub(crate) async fn waits(gone: &Gone) {
    let _gone = SetOnDrop(gone.clone());
    std::future::pending::<()>().await;
}

/// Set when a call has been dropped.
#[derive(Clone, Default)]
pub(crate) struct Gone(Arc<AtomicBool>);

struct SetOnDrop(Gone);

impl Drop for SetOnDrop {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::SeqCst);
    }
}

/// Store of all nodes, which a test can make unavailable, and whose answers it can lose.
#[derive(Clone)]
pub(crate) struct SharedStore {
    pub(crate) memory: Arc<MemoryStore>,
    is_away: Arc<AtomicBool>,
    /// Number of answers to lose, of those about events for sessions that belong to no request.
    lost: Arc<AtomicUsize>,
    /// Number of requests to the store that contain a transaction of a session.
    of_sessions: Arc<AtomicUsize>,
}

/// Whether a transaction appends an event for a session that belongs to no request.
fn tells_session(transaction: &Transaction) -> bool {
    let tells = |operation: &StoreOperation| matches!(operation, StoreOperation::Append { log, .. } if log == "stream/0");
    transaction.operations.iter().any(tells)
}

impl SharedStore {
    pub(crate) fn set_away(&self, is_away: bool) {
        self.is_away.store(is_away, Ordering::SeqCst);
    }
}

impl Store for SharedStore {
    fn is_shared(&self) -> bool {
        true
    }

    fn execute(&self, transactions: Vec<Transaction>) -> StoreFuture<'_, Vec<TransactionResult>> {
        if self.is_away.load(Ordering::SeqCst) {
            return Box::pin(async { Err(StoreError::unavailable("the store is away")) });
        }
        let is_of_session =
            |transaction: &Transaction| transaction.partition.starts_with("session:");
        if transactions.iter().any(is_of_session) {
            self.of_sessions.fetch_add(1, Ordering::SeqCst);
        }
        let is_lost = transactions.iter().any(tells_session)
            && self
                .lost
                .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |lost| lost.checked_sub(1))
                .is_ok();
        Box::pin(async move {
            let results = self.memory.execute(transactions).await;
            if is_lost { Err(StoreError::unavailable("the answer is lost")) } else { results }
        })
    }

    fn follow(&self, partition: &str, log: &str, after: u64) -> Box<dyn Follower> {
        self.memory.follow(partition, log, after)
    }
}

/// Three nodes of one server.
pub(crate) struct Cluster {
    pub(crate) addresses: [SocketAddr; 3],
    pub(crate) store: SharedStore,
    gone: Gone,
    pace: Pace,
    nodes: Vec<(oneshot::Sender<()>, JoinHandle<()>)>,
}

impl Cluster {
    pub(crate) async fn start() -> Self {
        Self::start_with(|server| server).await
    }

    pub(crate) async fn start_with(configure: impl Fn(Builder) -> Builder) -> Self {
        let memory = Arc::new(MemoryStore::new().shared());
        let store = SharedStore {
            memory,
            is_away: Arc::default(),
            lost: Arc::default(),
            of_sessions: Arc::default(),
        };
        let (gone, pace) = (Gone::default(), Pace(Arc::new(Semaphore::new(0))));
        let (mut addresses, mut nodes) = (Vec::new(), Vec::new());
        for name in ["one", "two", "three"] {
            let server = mcp_runtime::server!(name = "nodes")
                .items(items![
                    node,
                    today,
                    change,
                    tomorrow,
                    change_tomorrow,
                    asks,
                    waits,
                    steps,
                    later,
                    store_requests,
                    shared_counts,
                    seldom
                ])
                .state(Name(name))
                .state(gone.clone())
                .state(pace.clone())
                .store(store.clone());
            let server = configure(server).bind_http("127.0.0.1:0").await.unwrap();
            addresses.push(server.local_addr());
            let (stop, stopped) = oneshot::channel();
            let serve = async move {
                let stop = async { drop(stopped.await) };
                server.serve_until(stop).await.unwrap();
            };
            nodes.push((stop, tokio::spawn(serve)));
        }
        Self { addresses: addresses.try_into().unwrap(), store, gone, pace, nodes }
    }

    /// Returns whether a call of `waits` was cancelled.
    pub(crate) fn has_cancelled(&self) -> bool {
        self.gone.0.load(Ordering::SeqCst)
    }

    /// Lets `steps` and `later` go on by this many steps.
    pub(crate) fn permit(&self, steps: usize) {
        self.pace.0.add_permits(steps);
    }

    /// Stops the first of the nodes that still run.
    pub(crate) async fn stop_first(&mut self) {
        let (stop, serving) = self.nodes.remove(0);
        stop.send(()).unwrap();
        serving.await.unwrap();
    }

    pub(crate) async fn stop(self) {
        for (stop, serving) in self.nodes {
            stop.send(()).unwrap();
            serving.await.unwrap();
        }
    }

    /// Returns the records of a session.
    async fn records(&self, session: &Session) -> usize {
        let names = ["client", "settings"];
        let read = Transaction::on(format!("session:{}", session.id));
        let read = names.iter().fold(read, |read, name| read.then(StoreOperation::get(*name)));
        let outputs = self.store.memory.execute(vec![read]).await.unwrap().remove(0).unwrap();
        outputs.iter().filter(|output| matches!(output, Output::Record(Some(_)))).count()
    }
}

pub(crate) fn notification(method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

#[support::test]
fn any_node_takes_the_requests_of_a_session() {
    run(async {
        let cluster = Cluster::start().await;
        for revision in REVISIONS {
            let session = Session::begin(cluster.addresses[0], revision).await;
            for _ in 0..2 {
                for (address, name) in cluster.addresses.iter().zip(["one", "two", "three"]) {
                    let reply = session.call(1, "node", json!({})).ask(*address).await;
                    assert_eq!(reply.text(), name, "{revision}");
                }
            }
        }
        cluster.stop().await;
    });
}

#[support::test]
fn a_session_that_ends_at_a_node_ends_at_all_and_leaves_no_record() {
    run(async {
        let cluster = Cluster::start().await;
        let [one, two, three] = cluster.addresses;
        let session = Session::begin(one, "2025-11-25").await;
        assert_eq!(session.call(1, "node", json!({})).ask(two).await.text(), "two");
        assert_eq!(cluster.records(&session).await, 2);
        assert_eq!(session.delete().ask(three).await.status(), 204);
        assert_eq!(cluster.records(&session).await, 0);
        assert_eq!(session.call(2, "node", json!({})).ask(three).await.status(), 404);
        for address in [one, two] {
            eventually("the end of the session", async || {
                let reply = session.call(3, "node", json!({})).ask(address).await;
                (reply.status() == 404).then_some(())
            })
            .await;
        }
        assert_eq!(session.delete().ask(two).await.status(), 404);
        cluster.stop().await;
    });
}

#[support::test]
fn a_subscription_at_a_node_reaches_the_stream_at_another_exactly_once() {
    run(async {
        let cluster = Cluster::start().await;
        let [one, two, three] = cluster.addresses;
        let session = Session::begin(one, "2025-11-25").await;
        let mut stream = session.get().open(two).await.check_events();
        let subscribe = message(1, "resources/subscribe", json!({ "uri": "notes://today" }));
        assert_eq!(session.post(&subscribe).ask(three).await.status(), 200);
        for _ in 0..2 {
            plain_call(3, "change", json!({})).ask(one).await;
        }
        for _ in 0..2 {
            let update = stream.message().await.unwrap();
            assert_eq!(update["params"]["uri"], "notes://today");
        }
        // A stream at another node takes over.
        let mut other = session.get().open(three).await.check_events();
        plain_call(4, "change", json!({})).ask(two).await;
        let update = other.message().await.unwrap();
        assert_eq!(update["params"]["uri"], "notes://today");
        drop((stream, other));
        cluster.stop().await;
    });
}

#[support::test]
fn an_update_whose_event_is_stored_twice_reaches_the_client_once() {
    run(async {
        let cluster = Cluster::start().await;
        let [one, two, three] = cluster.addresses;
        let session = Session::begin(one, "2025-11-25").await;
        let mut stream = session.get().open(two).await.check_events();
        let (today, tomorrow) = (json!("notes://today"), json!("notes://tomorrow"));
        for uri in [&today, &tomorrow] {
            let subscribe = message(1, "resources/subscribe", json!({ "uri": uri }));
            assert_eq!(session.post(&subscribe).ask(three).await.status(), 200);
        }
        cluster.store.lost.store(2, Ordering::SeqCst);
        plain_call(3, "change", json!({})).ask(one).await;
        assert_eq!(stream.message().await.unwrap()["params"]["uri"], today);
        let first = stream.last.clone().unwrap();
        eventually("the event is stored", async || {
            (cluster.store.lost.load(Ordering::SeqCst) == 0).then_some(())
        })
        .await;
        plain_call(4, "change_tomorrow", json!({})).ask(one).await;
        assert_eq!(stream.message().await.unwrap()["params"]["uri"], tomorrow);
        drop(stream);
        // The copies are behind the event after which the client resumes.
        let mut resumed = session.resume(&first).open(three).await.check_events();
        assert_eq!(resumed.message().await.unwrap()["params"]["uri"], tomorrow);
        drop(resumed);
        cluster.stop().await;
    });
}

#[support::test]
fn an_answer_to_a_question_may_arrive_at_another_node() {
    run(async {
        let cluster = Cluster::start().await;
        let [one, two, three] = cluster.addresses;
        let reply = initialize_as("2025-11-25", json!({ "elicitation": {} })).ask(one).await;
        let id = reply.head.get("mcp-session-id").unwrap();
        let session = Session { address: one, revision: "2025-11-25", id };
        let initialized = notification("notifications/initialized", json!({}));
        assert_eq!(session.post(&initialized).ask(one).await.status(), 202);
        let mut calls = Vec::new();
        for address in [one, two] {
            let mut stream = session.call(1, "asks", json!({})).open(address).await.check_events();
            let question = stream.message().await.unwrap();
            assert_eq!(question["method"], "elicitation/create", "{question}");
            calls.push((stream, question["id"].clone(), address));
        }
        assert_ne!(calls[0].1, calls[1].1, "two questions of a session have the same id");
        for (at, (stream, id, _)) in calls.iter_mut().enumerate() {
            // Short answers reach the node of the call through the log, long answers through a record.
            let word = format!("word {at}").repeat(1 + at * 10_000);
            let content = json!({ "word": word });
            let result = json!({ "action": "accept", "content": content });
            let answer = json!({ "jsonrpc": "2.0", "id": id, "result": result });
            assert_eq!(session.post(&answer).ask(three).await.status(), 202);
            let result = stream.message().await.unwrap();
            let text = &result["result"]["content"][0]["text"];
            assert_eq!(*text, word);
        }
        cluster.stop().await;
    });
}

#[support::test]
fn a_cancellation_may_arrive_at_another_node() {
    run(async {
        let cluster = Cluster::start().await;
        let [one, two, _] = cluster.addresses;
        let session = Session::begin(one, "2025-11-25").await;
        let call = session.call("call", "waits", json!({})).send(one).await;
        // The cancellation is repeated, because it may arrive before the call.
        eventually("the end of the call", async || {
            let cancel = notification("notifications/cancelled", json!({ "requestId": "call" }));
            assert_eq!(session.post(&cancel).ask(two).await.status(), 202);
            cluster.gone.0.load(Ordering::SeqCst).then_some(())
        })
        .await;
        drop(call);
        cluster.stop().await;
    });
}

#[support::test]
fn another_callers_session_is_unknown_at_every_node() {
    run(async {
        let cluster = Cluster::start_with(|server| {
            let tokens =
                StaticTokens::new().token("token-of-ada", "ada").token("token-of-bob", "bob");
            server.auth(tokens)
        })
        .await;
        let [one, two, three] = cluster.addresses;
        let bearer = |name: &str| format!("Bearer token-of-{name}");
        let open = initialize_as("2025-11-25", json!({})).header("Authorization", bearer("ada"));
        let id = open.ask(one).await.head.get("mcp-session-id").unwrap();
        let session = Session { address: one, revision: "2025-11-25", id };
        for (address, name) in [(two, "two"), (three, "three"), (one, "one")] {
            for (caller, status) in [("bob", 404), ("ada", 200), ("bob", 404)] {
                let call =
                    session.call(1, "node", json!({})).header("Authorization", bearer(caller));
                let reply = call.ask(address).await;
                assert_eq!(reply.status(), status, "{caller} at {name}");
            }
            let delete = session.delete().header("Authorization", bearer("bob"));
            assert_eq!(delete.ask(address).await.status(), 404);
        }
        cluster.stop().await;
    });
}

#[support::test]
fn requests_that_need_the_store_are_refused_while_it_is_away_and_others_go_on() {
    run(async {
        let cluster = Cluster::start().await;
        let [one, two, _] = cluster.addresses;
        let session = Session::begin(one, "2025-11-25").await;
        cluster.store.is_away.store(true, Ordering::SeqCst);
        let subscribe = message(1, "resources/subscribe", json!({ "uri": "notes://today" }));
        for refused in [
            session.call(1, "node", json!({})).ask(two).await,
            initialize_as("2025-11-25", json!({})).ask(two).await,
            session.post(&subscribe).ask(one).await,
        ] {
            refused.check_busy("the store");
            assert!(!refused.json()["id"].is_null(), "{refused:?}");
        }
        session.delete().ask(two).await.check_busy("the store");
        assert_eq!(plain_call(2, "node", json!({})).ask(two).await.text(), "two");
        let tasks = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
        let meta = json!({ "io.modelcontextprotocol/clientCapabilities": tasks });
        let id = "0123456789abcdef0123456789abcdef";
        for refused in [
            plain_call(3, "seldom", json!({})).ask(two).await,
            modern(4, "tasks/get", json!({ "taskId": id, "_meta": meta })).ask(two).await,
        ] {
            refused.check_busy("the store of the server");
            assert_eq!(refused.json()["error"]["code"], -32603);
            assert!(refused.json()["id"].is_number());
        }
        cluster.store.is_away.store(false, Ordering::SeqCst);
        assert_eq!(session.call(3, "node", json!({})).ask(two).await.text(), "two");
        cluster.stop().await;
    });
}

fn step_of(message: &Value) -> &Value {
    assert_eq!(message["method"], "notifications/progress", "{message}");
    &message["params"]["progress"]
}

#[support::test]
fn a_stream_that_broke_at_a_node_is_resumed_at_another() {
    run(async {
        let cluster = Cluster::start().await;
        let [one, two, three] = cluster.addresses;
        for revision in REVISIONS {
            let session = Session::begin(one, revision).await;
            cluster.pace.0.add_permits(1);
            let mut stream = session.call(1, "steps", json!({})).open(one).await.check_events();
            assert_eq!(*step_of(&stream.message().await.unwrap()), 1.0);
            let last = stream.last.clone().unwrap();
            drop(stream);
            // The call continues at its node while the client reads at another.
            let mut other = session.resume(&last).open(two).await.check_events();
            cluster.pace.0.add_permits(1);
            assert_eq!(*step_of(&other.message().await.unwrap()), 2.0);
            let middle = other.last.clone().unwrap();
            drop(other);
            cluster.pace.0.add_permits(2);
            let mut end = session.resume(&middle).open(three).await.check_events();
            assert_eq!(*step_of(&end.message().await.unwrap()), 3.0);
            assert_eq!(end.message().await.unwrap()["id"], 1);
            assert!(end.message().await.is_none());
            // After the end, the whole stream can still be read again at every node.
            for address in [one, two, three] {
                let again = session.resume(&last).open(address).await.check_events().rest().await;
                assert_eq!(again.len(), 3, "{again:?}");
            }
        }
        cluster.stop().await;
    });
}

#[support::test]
fn events_that_never_were_or_are_of_another_session_cannot_be_resumed() {
    run(async {
        let cluster = Cluster::start().await;
        let [one, two, _] = cluster.addresses;
        let [session, other] =
            [Session::begin(one, "2025-11-25").await, Session::begin(one, "2025-11-25").await];
        cluster.pace.0.add_permits(4);
        let mut stream = session.call(1, "steps", json!({})).open(one).await.check_events();
        stream.message().await.unwrap();
        let last = stream.last.clone().unwrap();
        assert_eq!(stream.rest().await.len(), 3);
        for (session, last) in
            [(&other, &*last), (&session, "7-1"), (&session, "0-9"), (&session, "x")]
        {
            let reply = session.resume(last).ask(two).await;
            assert_eq!(reply.status(), 400, "{last}");
        }
        cluster.stop().await;
    });
}

#[support::test]
fn updates_while_the_stream_was_broken_follow_at_another_node() {
    run(async {
        let cluster = Cluster::start().await;
        let [one, two, three] = cluster.addresses;
        let session = Session::begin(one, "2025-11-25").await;
        let subscribe = message(1, "resources/subscribe", json!({ "uri": "notes://today" }));
        assert_eq!(session.post(&subscribe).ask(one).await.status(), 200);
        let change = async |address| {
            let changed = plain_call(2, "change", json!({})).ask(address).await;
            assert_eq!(changed.status(), 200);
        };
        // Before any stream is open, the node that began the session keeps the updates.
        change(three).await;
        let mut stream = session.get().open(one).await.check_events();
        assert_eq!(stream.message().await.unwrap()["params"]["uri"], "notes://today");
        change(two).await;
        assert_eq!(stream.message().await.unwrap()["params"]["uri"], "notes://today");
        let last = stream.last.clone().unwrap();
        drop(stream);
        change(one).await;
        let mut other = session.resume(&last).open(two).await.check_events();
        assert_eq!(other.message().await.unwrap()["params"]["uri"], "notes://today");
        drop(other);
        change(two).await;
        // A client that names no event continues where it was.
        let mut third = session.get().open(three).await.check_events();
        assert_eq!(third.message().await.unwrap()["params"]["uri"], "notes://today");
        drop(third);
        cluster.stop().await;
    });
}

#[support::test]
fn a_stream_ends_at_every_node_when_its_session_ends() {
    run(async {
        let cluster = Cluster::start().await;
        let [one, two, three] = cluster.addresses;
        let session = Session::begin(one, "2025-11-25").await;
        let mut stream = session.get().open(two).await.check_events();
        assert_eq!(session.delete().ask(three).await.status(), 204);
        assert!(stream.message().await.is_none());
        cluster.stop().await;
    });
}

#[support::test]
fn a_node_is_not_ready_while_the_store_is_away() {
    run(async {
        let cluster = Cluster::start().await;
        let [one, two, _] = cluster.addresses;
        let ready = async |address, path| {
            let reply = Request::new("GET", path).ask(address).await;
            (reply.status(), String::from_utf8(reply.body).unwrap())
        };
        assert_eq!(ready(one, "/readyz").await, (200, "ready\n".to_owned()));
        let session = Session::begin(one, "2025-11-25").await;
        cluster.store.is_away.store(true, Ordering::SeqCst);
        session.call(1, "node", json!({})).ask(two).await.check_busy("the store");
        let away = (503, "the store is not available\n".to_owned());
        // A single request that fails is no outage.
        assert_eq!(ready(two, "/readyz").await.0, 200);
        eventually("the node is not ready", async || {
            session.call(1, "node", json!({})).ask(two).await.check_busy("the store");
            (ready(two, "/readyz").await == away).then_some(())
        })
        .await;
        assert_eq!(ready(two, "/healthz").await, (200, "ok\n".to_owned()));
        // A node without requests notices the outage when it renews its lease.
        eventually("the node is not ready", async || {
            (ready(one, "/readyz").await == away).then_some(())
        })
        .await;
        cluster.store.is_away.store(false, Ordering::SeqCst);
        for address in cluster.addresses {
            eventually("the node is ready", async || {
                (ready(address, "/readyz").await.0 == 200).then_some(())
            })
            .await;
        }
        cluster.stop().await;
    });
}

#[support::test]
fn a_session_begins_with_a_single_request_to_the_store() {
    run(async {
        let cluster = Cluster::start().await;
        let count = || cluster.store.of_sessions.load(Ordering::SeqCst);
        for revision in REVISIONS {
            let before = count();
            let reply = initialize_as(revision, json!({})).ask(cluster.addresses[0]).await;
            assert_eq!(reply.status(), 200, "{reply:?}");
            assert_eq!(count() - before, 1, "{revision}");
        }
        cluster.stop().await;
    });
}

#[support::test]
fn requests_to_the_store_are_counted() {
    run(async {
        let cluster = Cluster::start().await;
        let [one, two, _] = cluster.addresses;
        let counts = async || {
            let text = plain_call(1, "store_requests", json!({})).ask(two).await.text();
            let (requests, failed) = text.split_once(' ').unwrap();
            [requests, failed].map(|count| count.parse::<u64>().unwrap())
        };
        let before = counts().await;
        let session = Session::begin(one, "2025-11-25").await;
        session.call(1, "node", json!({})).ask(two).await;
        let after = counts().await;
        assert!(after[0] > before[0] && after[1] == 0, "{before:?}, then {after:?}");
        cluster.store.is_away.store(true, Ordering::SeqCst);
        session.delete().ask(two).await.check_busy("the store");
        let away = counts().await;
        assert!(away[0] > after[0] && away[1] > 0, "{after:?}, then {away:?}");
        cluster.store.is_away.store(false, Ordering::SeqCst);
        cluster.stop().await;
    });
}

#[support::test]
fn a_task_that_begins_at_a_node_is_reported_on_the_stream_at_another() {
    run(async {
        let cluster = Cluster::start().await;
        let [one, two, three] = cluster.addresses;
        let session = Session::begin(one, "2025-11-25").await;
        let mut stream = session.get().open(one).await.check_events();
        let call =
            message(1, "tools/call", json!({ "name": "later", "arguments": {}, "task": {} }));
        let created = session.post(&call).ask(two).await.json();
        let id = &created["result"]["task"]["taskId"];
        assert!(id.is_string(), "{created}");
        cluster.pace.0.add_permits(1);
        loop {
            let news = stream.message().await.unwrap();
            assert_eq!(news["method"], "notifications/tasks/status", "{news}");
            assert_eq!(news["params"]["taskId"], *id);
            if news["params"]["status"] == "completed" {
                break;
            }
        }
        let result = message(2, "tasks/result", json!({ "taskId": id }));
        assert_eq!(session.post(&result).ask(three).await.text(), "done");
        cluster.stop().await;
    });
}

#[support::test]
fn no_event_is_stored_for_a_session_that_has_ended() {
    run(async {
        let cluster = Cluster::start().await;
        let [one, two, three] = cluster.addresses;
        let subscribe = message(1, "resources/subscribe", json!({ "uri": "notes://today" }));
        let mut ended = Vec::new();
        for _ in 0..100 {
            let session = Session::begin(one, "2025-11-25").await;
            assert_eq!(session.post(&subscribe).ask(one).await.status(), 200);
            let mut stream = session.get().open(one).await.check_events();
            // The update reaches the node of the stream while another node ends the session.
            let change = plain_call(2, "change", json!({}));
            let delete = session.delete();
            let (changed, deleted) = tokio::join!(change.ask(two), delete.ask(three));
            assert_eq!((changed.status(), deleted.status()), (200, 204));
            stream.rest().await;
            ended.push(session.id);
        }
        // An update that a later session has heard comes after all of theirs.
        let session = Session::begin(one, "2025-11-25").await;
        assert_eq!(session.post(&subscribe).ask(one).await.status(), 200);
        let mut stream = session.get().open(one).await.check_events();
        plain_call(3, "change", json!({})).ask(two).await;
        assert!(stream.message().await.is_some());
        let mut left = 0;
        for id in ended {
            let read = Transaction::on(format!("session:{id}"));
            let read = read.then(StoreOperation::read("stream/0", 0, usize::MAX));
            let outputs = cluster.store.memory.execute(vec![read]).await.unwrap().remove(0);
            match outputs.unwrap().remove(0) {
                // The end of the stream stays for a minute.
                Output::Events { events, .. } => {
                    let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
                    let is_update = |value: &[u8]| text(value).contains("notes://today");
                    left += usize::from(events.iter().any(|event| is_update(&event.value)));
                }
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(left, 0, "sessions of 100 have left events behind");
        drop(stream);
        cluster.stop().await;
    });
}
