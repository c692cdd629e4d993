//! The server stores the beginning and the end of a task before a client can see them.

use mcp_runtime::store::{Follower, MemoryStore, StoreFuture, TransactionResult};
use tokio::sync::Semaphore;

use super::*;

/// A store that writes only as often as the test permits.
struct Gated {
    memory: MemoryStore,
    writes: Semaphore,
}

impl Gated {
    fn permitting(writes: usize) -> Arc<Self> {
        Arc::new(Self { memory: MemoryStore::new(), writes: Semaphore::new(writes) })
    }

    fn permit_one(&self) {
        self.writes.add_permits(1);
    }

    /// Returns the number of unfinished tasks, which a server would find after a restart.
    async fn unfinished_count(&self) -> usize {
        unfinished_count(&self.memory).await
    }
}

impl Store for Gated {
    fn execute(&self, transactions: Vec<Transaction>) -> StoreFuture<'_, Vec<TransactionResult>> {
        Box::pin(async move {
            if writes_a_task(&transactions) {
                self.writes.acquire().await.expect("the gate stays open").forget();
            }
            self.memory.execute(transactions).await
        })
    }

    fn follow(&self, partition: &str, log: &str, after: u64) -> Box<dyn Follower> {
        self.memory.follow(partition, log, after)
    }
}

/// Starts a call that becomes a task.
fn start(client: &mut TestClient, tool: &str, arguments: Value) -> mcp_runtime::testing::Ongoing {
    client.start("tools/call", json!({ "name": tool, "arguments": arguments, "task": {} }))
}

/// Lets everything run that can, so that only writes that wait for a permit remain. The clock is paused, so this takes no real time.
async fn settle() {
    pause(100).await;
}

#[tokio::test(start_paused = true)]
async fn a_task_is_stored_before_its_call_is_answered() {
    for revision in [V4, V5] {
        let store = Gated::permitting(0);
        let mut client = connect_to(everything().store(store.clone()), revision).await;
        let call = start(&mut client, "slow", json!({ "seconds": 1000 }));
        settle().await;
        assert_eq!(client.in_flight(), 1, "{revision}: the call has been answered");
        if revision == V4 {
            let listed = client.request("tasks/list", json!({})).await.unwrap();
            assert_eq!(listed["tasks"], json!([]));
        }
        store.permit_one();
        client.wait(call).await.expect("the call becomes a task");
        assert_eq!(store.unfinished_count().await, 1);
    }
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_task_is_stored_before_a_client_sees_it() {
    for revision in [V4, V5] {
        let store = Gated::permitting(1);
        let mut client = connect_to(everything().store(store.clone()), revision).await;
        let id = begin(&mut client, "slow", json!({ "seconds": 1 })).await;
        let which = json!({ "taskId": id });
        let waiter = match revision {
            V4 => Some(client.start("tasks/result", which)),
            _ => {
                client.listen(json!({ "taskIds": [id] })).await.unwrap();
                while let Some(told) = client.notification(Duration::from_millis(1)).await {
                    assert_ne!(told["params"]["status"], "completed");
                }
                None
            }
        };
        settle().await;
        assert_eq!(store.unfinished_count().await, 1, "the store holds the end back");
        assert_eq!(get(&mut client, &id).await["status"], "working", "{revision}");
        assert_eq!(client.notification(Duration::from_secs(1)).await, None, "{revision}");
        if revision == V4 {
            assert_eq!(client.in_flight(), 1, "the waiter has been answered");
            let listed = client.request("tasks/list", json!({})).await.unwrap();
            assert_eq!(listed["tasks"][0]["status"], "working");
        }
        store.permit_one();
        let told = client.notification(Duration::from_secs(1)).await.expect("the end is told");
        assert_eq!(told["params"]["status"], "completed", "{revision}");
        assert_eq!(store.unfinished_count().await, 0);
        assert_eq!(get(&mut client, &id).await["status"], "completed");
        if let Some(waiter) = waiter {
            let result = client.wait(waiter).await.unwrap();
            assert_eq!(result["content"][0]["text"], "1 s");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_call_that_is_ready_at_once_is_stored_before_its_answer() {
    let store = Gated::permitting(0);
    let mut client = connect_to(everything().store(store.clone()), V4).await;
    let call = start(&mut client, "slow", json!({ "seconds": "no number" }));
    settle().await;
    assert_eq!(client.in_flight(), 1, "the call has been answered");
    store.permit_one();
    let created = client.wait(call).await.unwrap();
    let id = created["task"]["taskId"].as_str().unwrap();
    assert_eq!(get(&mut client, id).await["status"], "failed");
    assert_eq!(store.unfinished_count().await, 0);
}

#[tokio::test(start_paused = true)]
async fn a_cancellation_is_stored_before_it_is_answered() {
    for revision in [V4, V5] {
        let store = Gated::permitting(1);
        let mut client = connect_to(everything().store(store.clone()), revision).await;
        let id = begin(&mut client, "slow", json!({ "seconds": 1000 })).await;
        let which = json!({ "taskId": id });
        let [first, second] =
            [which.clone(), which.clone()].map(|params| client.start("tasks/cancel", params));
        settle().await;
        assert_eq!(client.in_flight(), 2, "{revision}: a cancellation has been answered");
        assert_eq!(get(&mut client, &id).await["status"], "working", "{revision}");
        store.permit_one();
        let answers = [client.wait(first).await, client.wait(second).await];
        assert_eq!(store.unfinished_count().await, 0);
        if revision == V4 {
            let [cancelled, late] = answers;
            assert_eq!(cancelled.unwrap()["status"], "cancelled");
            let error = late.unwrap_err();
            assert!(error.message.contains("it was cancelled"), "{error}");
        }
        assert_eq!(get(&mut client, &id).await["status"], "cancelled");
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_that_takes_longer_than_its_time_to_live_is_stored_as_cancelled_first() {
    let store = Gated::permitting(1);
    let limits = mcp_runtime::limits::Limits::new().task_ttl(Duration::from_secs(10));
    let server = everything().limits(limits).store(store.clone());
    let mut client = connect_to(server, V5).await;
    let id = begin(&mut client, "slow", json!({ "seconds": 1000 })).await;
    // The time to live of the running task follows the paused clock, so it ends here. The stored task expires by the system clock, which
    // has not moved, so a client can still read it.
    pause(11).await;
    assert_eq!(get(&mut client, &id).await["status"], "working");
    store.permit_one();
    pause(1).await;
    assert_eq!(get(&mut client, &id).await["status"], "cancelled");
    assert_eq!(store.unfinished_count().await, 0);
}

/// A store that accepts the beginning of a task, and panics at its end.
struct Broken(MemoryStore);

impl Store for Broken {
    fn execute(&self, transactions: Vec<Transaction>) -> StoreFuture<'_, Vec<TransactionResult>> {
        assert!(!writes_an_end(&transactions), "the store is broken");
        self.0.execute(transactions)
    }

    fn follow(&self, partition: &str, log: &str, after: u64) -> Box<dyn Follower> {
        self.0.follow(partition, log, after)
    }
}

#[tokio::test(start_paused = true)]
async fn a_store_that_panics_does_not_keep_a_task_from_ending() {
    for revision in [V4, V5] {
        let server = everything().store(Broken(MemoryStore::new()));
        let mut client = connect_to(server, revision).await;
        let id = begin(&mut client, "slow", json!({ "seconds": 1 })).await;
        pause(2).await;
        assert_eq!(get(&mut client, &id).await["status"], "completed", "{revision}");
        let id = begin(&mut client, "slow", json!({ "seconds": 1000 })).await;
        client.request("tasks/cancel", json!({ "taskId": id })).await.unwrap();
        assert_eq!(get(&mut client, &id).await["status"], "cancelled", "{revision}");
    }
}
