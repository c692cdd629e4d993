//! Tasks of several servers that share a store: each server shows, cancels, answers and awaits the tasks of all of them.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use mcp_runtime::{
    Builder, items,
    prelude::*,
    server,
    store::{
        Condition, Follower, LogEvent, MemoryStore, Output, Store, StoreError, StoreFuture,
        StoreOperation, Transaction, TransactionResult,
    },
    testing::{Revision, TestClient},
};
use serde_json::{Value, json};

use crate::support::{both_eras_paused, pass};

const V4: Revision = Revision::V2025_11_25;
const V5: Revision = Revision::V2026_07_28;

/// Time that a command takes to the store, and that the reply takes back.
const WAY: Duration = Duration::from_millis(1);

/// Time after which a change has reached all nodes.
const SOON: Duration = Duration::from_millis(100);

/// Store of one node. A test can cut the node off, so that the others hold it for dead.
#[derive(Clone)]
struct NodeStore {
    memory: Arc<MemoryStore>,
    is_cut_off: Arc<AtomicBool>,
    /// Whether answers of the store are lost on their way back.
    is_unsure: Arc<AtomicBool>,
    /// Whether messages of other nodes do not arrive.
    is_deaf: Arc<AtomicBool>,
    executed: Arc<AtomicUsize>,
}

impl NodeStore {
    fn new() -> Self {
        Self::of(MemoryStore::new().shared())
    }

    fn of(memory: MemoryStore) -> Self {
        let (memory, executed) = (Arc::new(memory), Arc::default());
        Self {
            memory,
            is_cut_off: Arc::default(),
            is_unsure: Arc::default(),
            is_deaf: Arc::default(),
            executed,
        }
    }

    /// Returns the same store for another node.
    fn other(&self) -> Self {
        Self {
            memory: self.memory.clone(),
            is_cut_off: Arc::default(),
            is_unsure: Arc::default(),
            is_deaf: Arc::default(),
            executed: Arc::default(),
        }
    }

    fn cut_off(&self, is_cut_off: bool) {
        self.is_cut_off.store(is_cut_off, Ordering::SeqCst);
    }

    fn check(&self) -> Result<(), StoreError> {
        if self.is_cut_off.load(Ordering::SeqCst) {
            return Err(StoreError::unavailable("the node is cut off"));
        }
        Ok(())
    }
}

impl Store for NodeStore {
    fn is_shared(&self) -> bool {
        self.memory.is_shared()
    }

    fn execute(&self, transactions: Vec<Transaction>) -> StoreFuture<'_, Vec<TransactionResult>> {
        self.executed.fetch_add(1, Ordering::SeqCst);
        Box::pin(async move {
            tokio::time::sleep(WAY).await;
            self.check()?;
            let results = self.memory.execute(transactions).await;
            tokio::time::sleep(WAY).await;
            if self.is_unsure.load(Ordering::SeqCst) {
                return Err(StoreError::unavailable("the answer is lost"));
            }
            results
        })
    }

    fn follow(&self, partition: &str, log: &str, after: u64) -> Box<dyn Follower> {
        let follower = self.memory.follow(partition, log, after);
        Box::new(NodeFollower { store: self.clone(), follower, read: None })
    }
}

struct NodeFollower {
    store: NodeStore,
    follower: Box<dyn Follower>,
    read: Option<LogEvent>,
}

impl Follower for NodeFollower {
    fn next(&mut self) -> StoreFuture<'_, LogEvent> {
        Box::pin(async {
            if self.read.is_none() {
                self.read = Some(self.follower.next().await?);
            }
            self.store.check()?;
            if self.store.is_deaf.load(Ordering::SeqCst) {
                return Err(StoreError::unavailable("the node is deaf"));
            }
            self.read.take().ok_or_else(|| StoreError::failed("nothing was read"))
        })
    }
}

/// Record of what the handlers of all nodes have done, in order.
#[derive(Clone, Default)]
struct Diary(Arc<Mutex<Vec<String>>>);

impl Diary {
    fn note(&self, text: impl Into<String>) {
        self.0.lock().unwrap().push(text.into());
    }

    fn count(&self, text: &str) -> usize {
        self.0.lock().unwrap().iter().filter(|entry| *entry == text).count()
    }
}

/// Notes when the handler is dropped before its end.
struct Leaving<'a>(&'a Diary);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.0.note("left");
    }
}

#[form]
struct Name {
    name: String,
}

/// Takes this many seconds.
#[tool(task)]
async fn work(seconds: u64, diary: &Diary) -> String {
    diary.note("begun");
    let leaving = Leaving(diary);
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    std::mem::forget(leaving);
    diary.note("done");
    format!("{seconds} s")
}

/// Takes this many seconds, and can run again.
#[tool(task, idempotent)]
async fn rework(seconds: u64, diary: &Diary) -> String {
    diary.note("begun");
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    diary.note("done");
    format!("{seconds} s")
}

/// Reports a step each second.
#[tool(task(poll = "2s"))]
async fn steps(progress: Progress) -> &'static str {
    for step in 1..=5 {
        progress.total(5).say(step, format!("step {step}"));
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    tokio::time::sleep(Duration::from_secs(10)).await;
    "all"
}

/// Two questions at once, then one more.
#[tool(task)]
async fn asks(ctx: &Context) -> Result<String> {
    let (a, b) = tokio::join!(ctx.elicit::<Name>("a", "A?"), ctx.elicit::<Name>("b", "B?"));
    let c: Name = ctx.elicit("c", "C?").await?;
    Ok(format!("{} {} {}", a?.name, b?.name, c.name))
}

fn server(store: &NodeStore, diary: &Diary) -> Builder {
    let items = items![work, rework, steps, asks];
    server!().state(diary.clone()).items(items).store(store.clone())
}

async fn node(store: &NodeStore, diary: &Diary, revision: Revision) -> TestClient {
    connect(server(store, diary), revision).await
}

/// Returns the client of a server of another version, which lacks the tool `rework`.
async fn older_node(store: &NodeStore, diary: &Diary, revision: Revision) -> TestClient {
    let items = items![work, steps];
    connect(server!().state(diary.clone()).items(items).store(store.clone()), revision).await
}

async fn connect(server: Builder, revision: Revision) -> TestClient {
    let can = json!({ "elicitation": {}, "extensions": { "io.modelcontextprotocol/tasks": {} } });
    let client = TestClient::connect_capable(server, revision, can).await;
    client.expect("the server starts")
}

/// Returns clients of servers that share a store.
async fn nodes<const N: usize>(revision: Revision) -> ([TestClient; N], [NodeStore; N], Diary) {
    let (store, diary) = (NodeStore::new(), Diary::default());
    let stores = [(); N].map(|()| store.other());
    let mut clients = Vec::new();
    for store in &stores {
        clients.push(node(store, &diary, revision).await);
    }
    (clients.try_into().ok().unwrap(), stores, diary)
}

/// Begins a task in the dialect of the client, and returns its id.
async fn begin(client: &mut TestClient, tool: &str, arguments: Value) -> String {
    let mut params = json!({ "name": tool, "arguments": arguments });
    if client.revision() == V4 {
        params["task"] = json!({});
    }
    let created = client.request("tools/call", params).await.expect("the call is accepted");
    let task = if client.revision() == V5 { &created } else { &created["task"] };
    task["taskId"].as_str().expect("it is a task").to_owned()
}

async fn get(client: &mut TestClient, id: &str) -> Value {
    client.request("tasks/get", json!({ "taskId": id })).await.expect("the task is there")
}

async fn status(client: &mut TestClient, id: &str) -> String {
    get(client, id).await["status"].as_str().expect("it has a status").to_owned()
}

fn accept(name: &str) -> Value {
    json!({ "action": "accept", "content": { "name": name } })
}

/// Returns the statuses of a task of which the client has been notified, each with its message.
async fn heard(client: &mut TestClient, id: &str) -> Vec<String> {
    let mut heard = Vec::new();
    while let Some(told) = client.notification(Duration::from_millis(1)).await {
        let method = told["method"].as_str().unwrap_or_default();
        if method.starts_with("notifications/tasks") && told["params"]["taskId"] == *id {
            let text = |name: &str| told["params"][name].as_str().unwrap_or_default().to_owned();
            heard.push(format!("{} {}", text("status"), text("statusMessage")));
        }
    }
    heard
}

/// Text of the reason with which a task of a dead server ends.
const STOPPED: &str = "the server stopped before the task was done";

/// Checks that a task has failed because its server has stopped.
async fn check_stopped(client: &mut TestClient, id: &str) {
    let task = get(client, id).await;
    assert_eq!(task["status"], "failed", "{task}");
    let why =
        if client.revision() == V5 { &task["error"]["message"] } else { &task["statusMessage"] };
    assert!(why.as_str().is_some_and(|why| why.contains(STOPPED)), "{task}");
}

/// Returns the record of a task whose caller is unknown.
async fn stored(store: &NodeStore, name: &str) -> String {
    let get = Transaction::on("tasks:").then(StoreOperation::get(name));
    let mut results = store.memory.execute(vec![get]).await.unwrap();
    let Output::Record(Some(record)) = results.remove(0).unwrap().remove(0) else {
        panic!("a record")
    };
    String::from_utf8(record.value).unwrap()
}

async fn put(store: &NodeStore, name: &str, text: &str) {
    let put = StoreOperation::put(name, text, Duration::from_secs(600), Condition::Any);
    let put = Transaction::on("tasks:").then(put);
    assert!(store.memory.execute(vec![put]).await.unwrap()[0].is_ok());
}

both_eras_paused! {
    async fn every_node_shows_the_state_of_a_task(revision) {
        let ([mut one, mut two], _, _) = nodes(revision).await;
        let id = begin(&mut one, "steps", json!({})).await;
        pass(SOON).await;
        // The task asks to be polled every two seconds, so it is stored no more often.
        for expected in ["step 1", "step 1", "step 3", "step 3", "step 5"] {
            for client in [&mut one, &mut two] {
                let task = get(client, &id).await;
                let seen = (&task["status"], &task["statusMessage"]);
                assert_eq!(seen, (&json!("working"), &json!(expected)));
            }
            pass(Duration::from_secs(1)).await;
        }
        pass(Duration::from_secs(20)).await;
        let ended = get(&mut one, &id).await;
        assert_eq!(ended["status"], "completed");
        assert_eq!(get(&mut two, &id).await, ended);
    }

    async fn a_task_is_cancelled_at_any_node(revision) {
        let ([mut one, mut two], _, diary) = nodes(revision).await;
        let id = begin(&mut one, "work", json!({ "seconds": 500 })).await;
        let cancelled = two.request("tasks/cancel", json!({ "taskId": id })).await.unwrap();
        if revision == V4 {
            assert_eq!(cancelled["status"], "cancelled");
        }
        assert_eq!(diary.count("left"), 1);
        for client in [&mut two, &mut one] {
            assert_eq!(status(client, &id).await, "cancelled");
        }
        let again = two.request("tasks/cancel", json!({ "taskId": id })).await;
        assert_eq!(again.is_err(), revision == V4, "{again:?}");
    }

    async fn a_cancellation_is_refused_while_the_store_is_away_and_may_be_repeated(revision) {
        let ([mut one, mut two], stores, diary) = nodes(revision).await;
        let id = begin(&mut one, "work", json!({ "seconds": 500 })).await;
        stores.iter().for_each(|store| store.cut_off(true));
        let refused = one.start("tasks/cancel", json!({ "taskId": id }));
        pass(Duration::from_secs(3)).await;
        stores.iter().for_each(|store| store.cut_off(false));
        let refused = one.wait(refused).await.unwrap_err();
        assert!(refused.message.contains("the store of the server is not available"), "{refused}");
        assert_eq!(diary.count("left"), 1);
        let repeated = one.request("tasks/cancel", json!({ "taskId": id }));
        repeated.await.unwrap();
        for client in [&mut two, &mut one] {
            assert_eq!(status(client, &id).await, "cancelled");
        }
    }

    async fn a_node_that_starts_leaves_the_tasks_of_others_alone(revision) {
        let ([mut one], [store], diary) = nodes(revision).await;
        let id = begin(&mut one, "rework", json!({ "seconds": 60 })).await;
        let mut two = node(&store.other(), &diary, revision).await;
        pass(Duration::from_secs(30)).await;
        assert_eq!(status(&mut two, &id).await, "working");
        pass(Duration::from_secs(31)).await;
        assert_eq!(status(&mut two, &id).await, "completed");
        assert_eq!((diary.count("begun"), diary.count("done")), (1, 1));
    }

    async fn a_node_that_starts_after_an_outage_leaves_the_tasks_of_live_nodes_alone(revision) {
        let ([mut one], [store], diary) = nodes(revision).await;
        let id = begin(&mut one, "work", json!({ "seconds": 60 })).await;
        let again = begin(&mut one, "rework", json!({ "seconds": 60 })).await;
        store.cut_off(true);
        pass(Duration::from_secs(12)).await;
        // The lease of the first node has ended, and is renewed only after the second node has started.
        let mut two = node(&store.other(), &diary, revision).await;
        pass(Duration::from_millis(500)).await;
        store.cut_off(false);
        pass(Duration::from_secs(60)).await;
        for id in [&id, &again] {
            assert_eq!(status(&mut two, id).await, "completed");
        }
        assert_eq!((diary.count("begun"), diary.count("done")), (2, 2));
    }

    async fn one_of_the_others_takes_each_task_of_a_dead_node(revision) {
        let ([mut one, mut two, mut three, mut four], _, diary) = nodes(revision).await;
        let mut ids = Vec::new();
        for _ in 0..20 {
            ids.push(begin(&mut one, "rework", json!({ "seconds": 60 })).await);
        }
        let fails = begin(&mut one, "work", json!({ "seconds": 60 })).await;
        drop(one);
        assert_eq!(status(&mut two, &fails).await, "working");
        pass(Duration::from_secs(20)).await;
        for client in [&mut two, &mut three, &mut four] {
            check_stopped(client, &fails).await;
        }
        assert_eq!(diary.count("begun"), 20 + 1 + 20);
        pass(Duration::from_secs(60)).await;
        for id in &ids {
            assert_eq!(status(&mut three, id).await, "completed");
        }
        assert_eq!(diary.count("done"), 20);
    }

    async fn a_task_is_left_to_a_node_that_has_its_tool(revision) {
        let ([mut one], [store], diary) = nodes(revision).await;
        let id = begin(&mut one, "rework", json!({ "seconds": 60 })).await;
        let mut two = older_node(&store.other(), &diary, revision).await;
        drop(one);
        pass(Duration::from_secs(20)).await;
        let mut three = node(&store.other(), &diary, revision).await;
        pass(Duration::from_secs(40)).await;
        for client in [&mut two, &mut three] {
            assert_eq!(status(client, &id).await, "working");
        }
        assert_eq!(diary.count("begun"), 2);
        pass(Duration::from_secs(60)).await;
        assert_eq!(status(&mut two, &id).await, "completed");
        assert_eq!(diary.count("done"), 1);
    }

    async fn a_task_whose_tool_no_node_has_fails_after_a_while_with_this_reason(revision) {
        let ([mut one], [store], diary) = nodes(revision).await;
        let id = begin(&mut one, "rework", json!({ "seconds": 60 })).await;
        let mut two = older_node(&store.other(), &diary, revision).await;
        drop(one);
        pass(Duration::from_secs(30)).await;
        assert_eq!(status(&mut two, &id).await, "working");
        pass(Duration::from_secs(30)).await;
        check_stopped(&mut two, &id).await;
        let task = get(&mut two, &id).await.to_string();
        assert!(task.contains("no server has the tool `rework` now"), "{task}");
    }

    async fn a_node_that_starts_later_takes_the_tasks_of_a_dead_node(revision) {
        let ([mut one], [store], diary) = nodes(revision).await;
        let id = begin(&mut one, "work", json!({ "seconds": 60 })).await;
        drop(one);
        // The lease of the dead node has not ended yet.
        let mut two = node(&store.other(), &diary, revision).await;
        assert_eq!(status(&mut two, &id).await, "working");
        pass(Duration::from_secs(20)).await;
        check_stopped(&mut two, &id).await;
    }

    async fn a_node_that_stops_hands_its_tasks_over_at_once(revision) {
        let ([mut one, mut two], _, diary) = nodes(revision).await;
        let id = begin(&mut one, "work", json!({ "seconds": 60 })).await;
        let again = begin(&mut one, "rework", json!({ "seconds": 60 })).await;
        drop(one.close().await);
        pass(Duration::from_millis(500)).await;
        check_stopped(&mut two, &id).await;
        assert_eq!((diary.count("begun"), diary.count("left")), (3, 1));
        pass(Duration::from_secs(60)).await;
        assert_eq!(status(&mut two, &again).await, "completed");
        assert_eq!(diary.count("done"), 1);
    }

    async fn a_node_that_starts_late_takes_the_tasks_of_a_node_that_stops_at_once(revision) {
        let ([mut one], [store], diary) = nodes(revision).await;
        let id = begin(&mut one, "work", json!({ "seconds": 60 })).await;
        pass(Duration::from_secs(20)).await;
        // This node does not know yet whether nodes without a lease are gone.
        let mut two = node(&store.other(), &diary, revision).await;
        drop(one.close().await);
        pass(Duration::from_millis(500)).await;
        check_stopped(&mut two, &id).await;
    }

    async fn a_task_is_there_until_it_expires_by_the_clock_of_the_store(revision) {
        let ([mut one, mut two], stores, _) = nodes(revision).await;
        let id = begin(&mut one, "work", json!({ "seconds": 600 })).await;
        // For a node whose clock is ahead, the task has expired.
        let text = stored(&stores[0], &id).await;
        let parts: Vec<_> = text.splitn(4, ' ').collect();
        put(&stores[0], &id, &format!("{} {} {} {}", parts[0], parts[0], parts[2], parts[3])).await;
        assert_eq!(status(&mut two, &id).await, "working");
        if revision == V4 {
            let listed = two.request("tasks/list", json!({})).await.unwrap();
            assert_eq!(listed["tasks"][0]["taskId"], json!(id));
        }
        drop(one);
        pass(Duration::from_secs(20)).await;
        check_stopped(&mut two, &id).await;
    }

    async fn a_node_that_comes_back_does_not_overwrite_what_its_successor_has_stored(revision) {
        for (seconds, is_deaf) in [(25, false), (25, true), (300, false)] {
            let ([mut one, mut two], stores, diary) = nodes(revision).await;
            let id = begin(&mut one, "work", json!({ "seconds": seconds })).await;
            let again = begin(&mut one, "rework", json!({ "seconds": 300 })).await;
            stores[0].cut_off(true);
            pass(Duration::from_secs(30)).await;
            check_stopped(&mut two, &id).await;
            assert_eq!(diary.count("begun"), 3);
            let ended = get(&mut two, &id).await;
            // A node that misses the message of its successor notices the successor at its next write.
            stores[0].is_deaf.store(is_deaf, Ordering::SeqCst);
            stores[0].cut_off(false);
            pass(Duration::from_secs(10)).await;
            stores[0].is_deaf.store(false, Ordering::SeqCst);
            // A handler that has not ended is cancelled.
            assert_eq!(diary.count("left"), usize::from(seconds == 300));
            for client in [&mut one, &mut two] {
                let seen = get(client, &id).await;
                assert_eq!(seen["lastUpdatedAt"], ended["lastUpdatedAt"]);
                check_stopped(client, &id).await;
                assert_eq!(status(client, &again).await, "working");
            }
            // The node runs new tasks, and its client can await and cancel the task that it has lost.
            one.request("tasks/cancel", json!({ "taskId": again })).await.unwrap();
            assert_eq!(status(&mut two, &again).await, "cancelled");
            let new = begin(&mut one, "work", json!({ "seconds": 1 })).await;
            pass(Duration::from_secs(2)).await;
            assert_eq!(status(&mut two, &new).await, "completed");
        }
    }

    async fn a_task_of_a_dead_node_can_be_cancelled_before_its_death_is_known(revision) {
        let ([mut one, mut two], _, diary) = nodes(revision).await;
        let id = begin(&mut one, "rework", json!({ "seconds": 500 })).await;
        let fails = begin(&mut one, "work", json!({ "seconds": 500 })).await;
        drop(one);
        let first = two.start("tasks/cancel", json!({ "taskId": id }));
        let second = two.start("tasks/cancel", json!({ "taskId": fails }));
        pass(Duration::from_secs(19)).await;
        two.wait(first).await.unwrap();
        assert_eq!(status(&mut two, &id).await, "cancelled");
        let second = two.wait(second).await;
        assert_eq!(second.is_err(), revision == V4, "{second:?}");
        check_stopped(&mut two, &fails).await;
        assert_eq!(diary.count("done"), 0);
    }

    async fn a_task_continues_while_the_store_is_away(revision) {
        let ([mut one, mut two], stores, _) = nodes(revision).await;
        let id = begin(&mut one, "steps", json!({})).await;
        stores.iter().for_each(|store| store.cut_off(true));
        pass(Duration::from_secs(20)).await;
        // The end is not in the store, so no client sees it.
        assert_eq!(get(&mut one, &id).await["statusMessage"], "step 1");
        assert!(two.request("tasks/get", json!({ "taskId": id })).await.is_err());
        stores.iter().for_each(|store| store.cut_off(false));
        pass(Duration::from_secs(6)).await;
        for client in [&mut one, &mut two] {
            let status = status(client, &id).await;
            // The leases of both nodes had ended, so either node may be faster: the owner stores the end, or the other node takes the task.
            assert!(status == "completed" || status == "failed", "{status}");
        }
        assert_eq!(status(&mut one, &id).await, status(&mut two, &id).await);
    }

    async fn a_write_is_not_lost_if_the_answer_of_the_store_is(revision) {
        let ([mut one, mut two], stores, diary) = nodes(revision).await;
        let steps = begin(&mut one, "steps", json!({})).await;
        let id = begin(&mut one, "work", json!({ "seconds": 3 })).await;
        stores[0].is_unsure.store(true, Ordering::SeqCst);
        pass(Duration::from_secs(6)).await;
        stores[0].is_unsure.store(false, Ordering::SeqCst);
        pass(Duration::from_secs(6)).await;
        for client in [&mut one, &mut two] {
            assert_eq!(status(client, &id).await, "completed");
            assert_eq!(get(client, &steps).await["statusMessage"], "step 5");
        }
        pass(Duration::from_secs(6)).await;
        assert_eq!(status(&mut two, &steps).await, "completed");
        assert_eq!(diary.count("done"), 1);
    }

    async fn a_client_hears_of_a_task_once_and_in_order(revision) {
        let ([mut one, mut two, mut three], _, _) = nodes(revision).await;
        let done = begin(&mut one, "work", json!({ "seconds": 1 })).await;
        pass(Duration::from_secs(2)).await;
        let id = begin(&mut one, "steps", json!({})).await;
        if revision == V5 {
            pass(SOON).await;
            let filter = json!({ "taskIds": [id, "unknown", done, id] });
            for client in [&mut two, &mut three] {
                client.start("subscriptions/listen", json!({ "notifications": filter.clone() }));
                let told = client.notification(Duration::from_secs(1)).await.unwrap();
                assert_eq!(told["method"], "notifications/subscriptions/acknowledged");
                assert_eq!(told["params"]["notifications"], json!({ "taskIds": [id] }));
            }
        }
        pass(Duration::from_secs(30)).await;
        let expected = ["working step 1", "working step 3", "working step 5", "completed "];
        if revision == V5 {
            // The first status is the state at the beginning of the stream.
            assert_eq!(heard(&mut two, &id).await, expected);
            assert_eq!(heard(&mut three, &id).await, expected);
        } else {
            assert_eq!(heard(&mut one, &id).await, expected[1..]);
            assert_eq!(heard(&mut two, &id).await, [""; 0]);
        }
    }

    async fn a_client_hears_of_a_task_that_another_node_has_taken(revision) {
        let ([mut one, mut two], stores, _) = nodes(revision).await;
        let id = begin(&mut one, "work", json!({ "seconds": 300 })).await;
        if revision == V5 {
            let filter = json!({ "taskIds": [id] });
            one.start("subscriptions/listen", json!({ "notifications": filter.clone() }));
            two.start("subscriptions/listen", json!({ "notifications": filter }));
        }
        stores[0].cut_off(true);
        pass(Duration::from_secs(30)).await;
        stores[0].cut_off(false);
        pass(Duration::from_secs(30)).await;
        let mut told = heard(&mut one, &id).await;
        assert!(told.pop().is_some_and(|told| told.starts_with("failed")), "{told:?}");
        assert!(told.iter().all(|told| told.starts_with("working")), "{told:?}");
        if revision == V5 {
            assert!(heard(&mut two, &id).await.pop().is_some_and(|told| told.starts_with("failed")));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_lists_the_tasks_of_all_nodes() {
    let ([mut one, mut two], _, _) = nodes(V4).await;
    let ids = [
        begin(&mut one, "asks", json!({})).await,
        begin(&mut two, "work", json!({ "seconds": 100 })).await,
    ];
    pass(SOON).await;
    for client in [&mut one, &mut two] {
        let listed = client.request("tasks/list", json!({})).await.unwrap();
        let mut found: Vec<_> = listed["tasks"].as_array().unwrap().iter().collect();
        found.sort_by_key(|task| task["taskId"] != ids[0]);
        let found = found.into_iter().map(|task| (task["taskId"].clone(), task["status"].clone()));
        let expected =
            [(json!(ids[0]), json!("input_required")), (json!(ids[1]), json!("working"))];
        assert_eq!(found.collect::<Vec<_>>(), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn questions_are_answered_at_any_node_in_the_newer_dialect() {
    let ([mut one, mut two, mut three], _, _) = nodes(V5).await;
    let id = begin(&mut one, "asks", json!({})).await;
    pass(SOON).await;
    let seen = get(&mut two, &id).await;
    assert_eq!(seen["inputRequests"], get(&mut one, &id).await["inputRequests"]);
    assert_eq!(seen["inputRequests"]["a"]["params"]["message"], "A?");
    let mut answers = [
        // A right answer, a wrong one, and an answer to a question that was never asked.
        (&mut two, json!({ "b": accept("Bo"), "a": { "action": 5 }, "z": accept("Z") }), Some("a")),
        (&mut three, json!({ "a": accept("Al"), "b": accept("Other") }), Some("c")),
        (&mut one, json!({ "c": accept("Cy") }), None),
    ];
    for ((client, answers, open), taken) in answers.iter_mut().zip(["b", "a", "c"]) {
        let update = json!({ "taskId": id, "inputResponses": answers });
        client.request("tasks/update", update).await.unwrap();
        // As soon as the client has its response, no node asks the question again.
        let seen = get(client, &id).await;
        assert_eq!(seen["inputRequests"][taken], Value::Null, "{seen}");
        pass(SOON).await;
        let seen = get(client, &id).await;
        let keys = seen["inputRequests"].as_object().map(|asked| asked.keys().cloned().collect());
        assert_eq!(keys, open.map(|open| vec![open.to_owned()]), "{seen}");
    }
    let seen = get(&mut two, &id).await;
    assert_eq!(seen["result"]["content"][0]["text"], "Al Bo Cy");
}

#[tokio::test(start_paused = true)]
async fn an_answer_at_another_node_is_not_lost_if_the_answer_of_the_store_is() {
    let ([mut one, mut two], stores, _) = nodes(V5).await;
    let id = begin(&mut one, "asks", json!({})).await;
    pass(SOON).await;
    stores[0].is_unsure.store(true, Ordering::SeqCst);
    let update = json!({ "taskId": id, "inputResponses": { "a": accept("Al") } });
    two.request("tasks/update", update).await.unwrap();
    stores[0].is_unsure.store(false, Ordering::SeqCst);
    pass(Duration::from_secs(5)).await;
    let seen = get(&mut two, &id).await;
    assert!(
        seen["inputRequests"]["b"].is_object() && seen["inputRequests"]["a"].is_null(),
        "{seen}"
    );
}

#[tokio::test(start_paused = true)]
async fn records_that_cannot_be_read_hold_up_no_messages_about_other_tasks() {
    let ([mut one, mut two], stores, _) = nodes(V5).await;
    let id = begin(&mut one, "asks", json!({})).await;
    let other = begin(&mut two, "work", json!({ "seconds": 500 })).await;
    pass(SOON).await;
    one.start("subscriptions/listen", json!({ "notifications": { "taskIds": [other] } }));
    pass(SOON).await;
    let name = format!("{id}/name");
    for name in [&name, &other] {
        put(&stores[0], name, "unreadable").await;
    }
    for message in [
        json!({ "answers": { "owner": "", "id": id, "name": name, "asked": false } }),
        json!({ "changed": { "owner": "", "id": other, "version": 0 } }),
    ] {
        let message = format!("{:016x} tasks {message}", 7);
        let message = StoreOperation::append("messages", message, Duration::from_secs(600), 16_384);
        let sent = stores[0].memory.execute(vec![Transaction::on("nodes").then(message)]).await;
        assert!(sent.unwrap()[0].is_ok());
    }
    let update = json!({ "taskId": id, "inputResponses": { "a": accept("Al") } });
    two.request("tasks/update", update).await.unwrap();
    assert_eq!(get(&mut two, &id).await["inputRequests"]["a"], Value::Null);
}

#[tokio::test(start_paused = true)]
async fn a_task_whose_client_was_not_told_of_it_is_cancelled_in_the_end() {
    let ([mut one, mut two], stores, diary) = nodes(V4).await;
    stores[0].is_unsure.store(true, Ordering::SeqCst);
    let params = json!({ "name": "work", "arguments": { "seconds": 500 }, "task": {} });
    assert!(one.request("tools/call", params).await.is_err());
    pass(Duration::from_secs(1)).await;
    stores[0].is_unsure.store(false, Ordering::SeqCst);
    pass(Duration::from_secs(10)).await;
    let listed = two.request("tasks/list", json!({})).await.unwrap();
    assert_eq!(listed["tasks"][0]["status"], "cancelled", "{listed}");
    assert_eq!(diary.count("done"), 0);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_awaits_the_result_at_any_node_is_asked_in_the_older_dialect() {
    let ([mut one, mut two], _, _) = nodes(V4).await;
    let id = begin(&mut one, "asks", json!({})).await;
    let task = id.clone();
    two.answer_with(move |method, params| {
        assert_eq!(method, "elicitation/create");
        assert_eq!(params["requestedSchema"]["properties"]["name"]["type"], "string");
        let related = &params["_meta"]["io.modelcontextprotocol/related-task"]["taskId"];
        assert_eq!(related, &json!(task));
        accept(params["message"].as_str().unwrap().trim_end_matches('?'))
    });
    let result = two.request("tasks/result", json!({ "taskId": id })).await.unwrap();
    assert_eq!(result["content"][0]["text"], "A B C");
}

#[tokio::test(start_paused = true)]
async fn a_client_at_another_node_is_asked_once_however_long_it_waits() {
    let ([mut one, mut two, mut three], _, _) = nodes(V4).await;
    let id = begin(&mut one, "asks", json!({})).await;
    let at_two = two.start("tasks/result", json!({ "taskId": id }));
    assert_eq!(questions(&mut two).await.0.len(), 2);
    three.start("tasks/result", json!({ "taskId": id }));
    assert_eq!(questions(&mut three).await.0.len(), 2);
    assert_eq!(questions(&mut two).await.1.len(), 2);
    pass(Duration::from_secs(200)).await;
    assert_eq!(questions(&mut three).await, (vec![], vec![]));
    assert_eq!(questions(&mut two).await, (vec![], vec![]));
    // The node of the newer client dies, so the older client is asked.
    drop(three);
    pass(Duration::from_secs(20)).await;
    assert_eq!(questions(&mut two).await.0.len(), 2);
    two.answer_with(|_, _| accept("Two"));
    two.cancel(at_two);
    let result = two.request("tasks/result", json!({ "taskId": id })).await.unwrap();
    assert_eq!(result["content"][0]["text"], "Two Two Two");
}

/// Returns the ids of the questions that a client has been sent, and of those that were withdrawn.
async fn questions(client: &mut TestClient) -> (Vec<Value>, Vec<Value>) {
    let (mut asked, mut withdrawn) = (Vec::new(), Vec::new());
    while let Some(told) = client.notification(SOON).await {
        match told["method"].as_str() {
            Some("elicitation/create") => asked.push(told["id"].clone()),
            Some("notifications/cancelled") => withdrawn.push(told["params"]["requestId"].clone()),
            _ => {}
        }
    }
    (asked, withdrawn)
}

#[tokio::test(start_paused = true)]
async fn the_newest_client_of_all_nodes_is_asked() {
    let ([mut one, mut two, mut three], _, _) = nodes(V4).await;
    let id = begin(&mut one, "asks", json!({})).await;
    let waiting = json!({ "taskId": id });
    let at_two = two.start("tasks/result", waiting.clone());
    let (asked, _) = questions(&mut two).await;
    assert_eq!(asked.len(), 2);
    // A newer client takes the questions over, and gives them back when it stops waiting.
    let at_three = three.start("tasks/result", waiting.clone());
    let (asked_three, _) = questions(&mut three).await;
    assert_eq!(asked_three.len(), 2);
    assert_eq!(questions(&mut two).await, (vec![], asked));
    three.cancel(at_three);
    assert_eq!(questions(&mut three).await, (vec![], asked_three));
    let (asked, _) = questions(&mut two).await;
    assert_eq!(asked.len(), 2);
    let at_one = one.start("tasks/result", waiting);
    assert_eq!(questions(&mut one).await.0.len(), 2);
    assert_eq!(questions(&mut two).await.1.len(), 2);
    one.answer_with(|_, _| accept("One"));
    one.cancel(at_one);
    two.answer_with(|_, _| accept("Two"));
    let result = two.wait(at_two).await.unwrap();
    assert_eq!(result["content"][0]["text"], "Two Two Two");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_cannot_be_used_fails_the_handler_of_another_node() {
    let ([mut one, mut two], _, _) = nodes(V4).await;
    let id = begin(&mut one, "asks", json!({})).await;
    two.answer_with(|_, _| json!({ "action": "accept", "content": { "name": 7 } }));
    let result = two.request("tasks/result", json!({ "taskId": id })).await;
    let text = format!("{result:?}");
    assert!(text.contains("answer cannot be used"), "{text}");
    assert_eq!(status(&mut one, &id).await, "failed");
}

#[tokio::test(start_paused = true)]
async fn a_client_that_awaits_a_result_gets_it_from_the_node_that_has_taken_the_task() {
    let ([mut one, mut two, mut three], _, _) = nodes(V4).await;
    let fails = begin(&mut one, "work", json!({ "seconds": 100 })).await;
    let id = begin(&mut one, "rework", json!({ "seconds": 30 })).await;
    let waits = [fails, id].map(|id| {
        let params = json!({ "taskId": id });
        (two.start("tasks/result", params.clone()), three.start("tasks/result", params))
    });
    drop(one);
    pass(Duration::from_secs(60)).await;
    let [fails, done] = waits;
    for (client, fails, done) in [(&mut two, fails.0, done.0), (&mut three, fails.1, done.1)] {
        let failed = client.wait(fails).await;
        assert!(format!("{failed:?}").contains(STOPPED), "{failed:?}");
        assert_eq!(client.wait(done).await.unwrap()["content"][0]["text"], "30 s");
    }
}

#[cfg(feature = "auth")]
#[tokio::test(start_paused = true)]
async fn the_tasks_of_another_user_are_unknown_at_every_node() {
    use mcp_runtime::auth::Authorization;

    let ([mut one, mut two], _, diary) = nodes(V5).await;
    one.authorization(Authorization::new("ada"));
    two.authorization(Authorization::new("bob"));
    let id = begin(&mut one, "work", json!({ "seconds": 100 })).await;
    for method in ["tasks/get", "tasks/cancel", "tasks/update"] {
        let params = json!({ "taskId": id, "inputResponses": {} });
        let error = two.request(method, params).await.unwrap_err();
        assert!(error.message.contains("no task of this id"), "{method}: {error}");
    }
    two.start("subscriptions/listen", json!({ "notifications": { "taskIds": [id] } }));
    let told = two.notification(Duration::from_secs(1)).await.unwrap();
    assert_eq!(told["params"]["notifications"], json!({}));
    pass(Duration::from_secs(1)).await;
    assert_eq!((status(&mut one, &id).await.as_str(), diary.count("left")), ("working", 0));
    two.authorization(Authorization::new("ada"));
    two.request("tasks/cancel", json!({ "taskId": id })).await.unwrap();
    assert_eq!(status(&mut one, &id).await, "cancelled");
}

#[cfg(feature = "auth")]
#[tokio::test(start_paused = true)]
async fn the_tasks_of_a_principal_are_counted_once_for_all_nodes() {
    use mcp_runtime::{auth::Authorization, limits::Limits};

    let (store, diary) = (NodeStore::new(), Diary::default());
    let mut clients = Vec::new();
    for name in ["ada", "ada", "bob"] {
        let can = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
        let server = server(&store.other(), &diary).limits(Limits::new().owner_tasks(3));
        let mut client = TestClient::connect_capable(server, V5, can).await.unwrap();
        client.authorization(Authorization::new(name));
        clients.push(client);
    }
    let [one, two, bob] = &mut clients[..] else { panic!("three clients") };
    let mut ids = Vec::new();
    for _ in 0..2 {
        ids.push(begin(one, "work", json!({ "seconds": 100 })).await);
    }
    begin(two, "work", json!({ "seconds": 100 })).await;
    for client in [&mut *one, &mut *two] {
        let reply = client.call("work", json!({ "seconds": 100 })).await;
        let refused = format!("{reply:?}");
        assert!(refused.contains("3 tasks are running already"), "{refused}");
    }
    begin(bob, "work", json!({ "seconds": 100 })).await;
    two.request("tasks/cancel", json!({ "taskId": ids[0] })).await.unwrap();
    begin(two, "work", json!({ "seconds": 100 })).await;
}

#[tokio::test(start_paused = true)]
async fn a_store_that_is_not_shared_gets_the_begin_and_the_end_of_a_task_alone() {
    let store = NodeStore::of(MemoryStore::new());
    let mut client = node(&store, &Diary::default(), V5).await;
    let before = store.executed.load(Ordering::SeqCst);
    let id = begin(&mut client, "steps", json!({})).await;
    for _ in 0..20 {
        assert_eq!(get(&mut client, &id).await["status"], "working");
        pass(Duration::from_millis(100)).await;
    }
    pass(Duration::from_secs(20)).await;
    assert_eq!(store.executed.load(Ordering::SeqCst) - before, 2);
}
