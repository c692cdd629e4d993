//! Several servers that share a store: the nodes of one server.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use mcp_runtime::{
    Builder, items,
    prelude::*,
    server,
    store::{
        Condition, Follower, MemoryStore, Output, Store, StoreError, StoreFuture, StoreOperation,
        Transaction, TransactionResult,
    },
    testing::{FaultyStore, Revision, StoreFault, TestClient},
};
use serde_json::{Value, json};

use crate::support::{LIMIT, both_eras, both_eras_paused, connect, eventually, names};

/// Store in memory that several nodes share, and that a test can make unavailable.
#[derive(Clone)]
struct SharedStore {
    memory: Arc<MemoryStore>,
    is_away: Arc<AtomicBool>,
}

impl SharedStore {
    fn new() -> Self {
        Self { memory: Arc::new(MemoryStore::new().shared()), is_away: Arc::default() }
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
        self.memory.execute(transactions)
    }

    fn follow(&self, partition: &str, log: &str, after: u64) -> Box<dyn Follower> {
        self.memory.follow(partition, log, after)
    }
}

/// Notes of today.
#[resource("notes://today", subscribe)]
fn today() -> &'static str {
    "Buy milk"
}

/// A note.
#[resource("notes://{name}", subscribe)]
fn note(name: &str) -> String {
    name.to_owned()
}

/// Reports that a resource has changed.
#[tool]
fn update(handle: Handle, uri: &str) {
    handle.updated(uri);
}

/// Enables, disables or removes an item.
#[tool]
fn switch(handle: Handle, how: &str, name: &str) -> Result<bool> {
    Ok(match how {
        "enable" => handle.enable(name),
        "disable" => handle.disable(name),
        "remove" => handle.remove(name),
        "add" => {
            handle.add(Tool::new(name.to_owned()).handler(async |_: Context| ())).map(|()| true)?
        }
        other => return Err(Error::invalid_params(format_args!("{other} is no switch"))),
    })
}

fn node(store: &SharedStore) -> Builder {
    server!().items(items![today, note, update, switch]).store(store.clone())
}

async fn nodes<const N: usize>(store: &SharedStore, revision: Revision) -> [TestClient; N] {
    let mut clients = Vec::new();
    for _ in 0..N {
        clients.push(connect(node(store), revision).await);
    }
    clients.try_into().ok().unwrap()
}

async fn updated(client: &mut TestClient) -> Value {
    let message = client.notification(LIMIT).await.expect("a notification");
    assert_eq!(message["method"], "notifications/resources/updated");
    message["params"]["uri"].clone()
}

both_eras! {
    async fn an_update_at_a_node_reaches_the_subscribers_of_all_nodes_once(revision) {
        let store = SharedStore::new();
        let mut clients: [TestClient; 3] = nodes(&store, revision).await;
        for client in &mut clients {
            client.subscribe("notes://today").await.unwrap();
        }
        for _ in 0..2 {
            clients[1].call("update", json!({ "uri": "notes://today" })).await.unwrap();
        }
        for client in &mut clients {
            for _ in 0..2 {
                assert_eq!(updated(client).await, "notes://today");
            }
        }
        // The next message of each client is a later update, so each client got the two updates exactly once.
        clients[2].call("update", json!({ "uri": "notes://tomorrow" })).await.unwrap();
        clients[2].call("update", json!({ "uri": "notes://today" })).await.unwrap();
        for client in &mut clients {
            assert_eq!(updated(client).await, "notes://today");
            assert!(client.notification(Duration::from_millis(1)).await.is_none());
        }
    }

    async fn an_update_of_a_uri_that_json_escapes_reaches_other_nodes(revision) {
        let store = SharedStore::new();
        let [mut one, mut two] = nodes(&store, revision).await;
        two.subscribe("notes://a%22b").await.unwrap();
        one.call("update", json!({ "uri": "notes://a\"b" })).await.unwrap();
        assert_eq!(updated(&mut two).await, "notes://a%22b");
    }

    async fn a_switch_of_an_item_applies_to_all_nodes_and_to_those_that_start_later(revision) {
        let store = SharedStore::new();
        let [mut one, mut two] = nodes(&store, revision).await;
        let disable = json!({ "how": "disable", "name": "update" });
        assert_eq!(one.call("switch", disable).await.unwrap().text(), "true");
        eventually("the tool to be disabled", async || {
            names(&two.tools().await.unwrap()) == ["switch"]
        }).await;
        let [mut late] = nodes(&store, revision).await;
        assert_eq!(names(&late.tools().await.unwrap()), ["switch"]);
        late.call("switch", json!({ "how": "enable", "name": "update" })).await.unwrap();
        for client in [&mut one, &mut two] {
            eventually("the tool to be enabled", async || client.tools().await.unwrap().len() == 2)
                .await;
        }
        two.call("switch", json!({ "how": "remove", "name": "update" })).await.unwrap();
        for client in [&mut one, &mut late] {
            eventually("the tool to be removed", async || client.tools().await.unwrap().len() == 1)
                .await;
        }
    }
}

/// Removes the leases of all nodes and their switches, as if the store had restarted without its data.
async fn lose_data(store: &SharedStore) {
    let on = || Transaction::on("nodes");
    let lists = ["live", "switches"].map(|index| on().then(StoreOperation::list(index, None, 99)));
    let outputs = store.memory.execute(lists.to_vec()).await.unwrap();
    let mut lost = on();
    for (index, output) in ["live", "switches"].into_iter().zip(outputs) {
        let Output::Entries(entries) = output.unwrap().remove(0) else { panic!("entries") };
        assert!(!entries.is_empty(), "{index}");
        for entry in entries {
            lost = lost.then(StoreOperation::delist(index, &*entry.name));
            lost = lost.then(StoreOperation::remove(entry.name, Condition::Any));
        }
    }
    assert!(store.memory.execute(vec![lost]).await.unwrap()[0].is_ok());
}

both_eras_paused! {
    async fn a_switch_is_stored_again_after_the_store_has_lost_it(revision) {
        let store = SharedStore::new();
        let [mut one, mut two] = nodes(&store, revision).await;
        one.call("switch", json!({ "how": "disable", "name": "update" })).await.unwrap();
        eventually("the tool to be disabled", async || two.tools().await.unwrap().len() == 1).await;
        lose_data(&store).await;
        while two.notification(Duration::from_secs(10)).await.is_some() {}
        let [mut late] = nodes(&store, revision).await;
        assert_eq!(late.tools().await.unwrap().len(), 1);
    }

    async fn a_switch_is_stored_again_after_the_store_was_away_for_so_long_that_it_has_expired(revision) {
        let store = SharedStore::new();
        let [mut one] = nodes(&store, revision).await;
        one.call("switch", json!({ "how": "disable", "name": "update" })).await.unwrap();
        while one.notification(Duration::from_secs(1)).await.is_some() {}
        store.is_away.store(true, Ordering::SeqCst);
        while one.notification(Duration::from_secs(90)).await.is_some() {}
        store.is_away.store(false, Ordering::SeqCst);
        // This node starts before the other one has noticed that the store is back.
        let [mut early] = nodes(&store, revision).await;
        while early.notification(Duration::from_secs(10)).await.is_some() {}
        assert_eq!(early.tools().await.unwrap().len(), 1);
        let [mut late] = nodes(&store, revision).await;
        assert_eq!(late.tools().await.unwrap().len(), 1);
    }

    async fn an_item_that_was_removed_and_added_again_is_there_at_nodes_that_start_later(revision) {
        let store = SharedStore::new();
        let [mut one] = nodes(&store, revision).await;
        for (how, tools) in [("remove", 1), ("add", 2)] {
            one.call("switch", json!({ "how": how, "name": "update" })).await.unwrap();
            eventually("the change", async || one.tools().await.unwrap().len() == tools).await;
            while one.notification(Duration::from_secs(1)).await.is_some() {}
            let [mut late] = nodes(&store, revision).await;
            assert_eq!(late.tools().await.unwrap().len(), tools, "{how}");
        }
    }

    async fn updates_wait_while_the_store_is_away(revision) {
        let store = SharedStore::new();
        let [mut one, mut two] = nodes(&store, revision).await;
        two.subscribe("notes://today").await.unwrap();
        store.is_away.store(true, Ordering::SeqCst);
        one.call("update", json!({ "uri": "notes://today" })).await.unwrap();
        assert!(two.notification(Duration::from_secs(5)).await.is_none());
        store.is_away.store(false, Ordering::SeqCst);
        assert_eq!(updated(&mut two).await, "notes://today");
    }

    async fn an_update_is_heard_once_even_if_the_node_stores_it_again(revision) {
        let store = SharedStore::new();
        let faulty = FaultyStore::new(store.clone());
        let one = server!().items(items![update]).store(faulty.clone());
        let mut one = connect(one, revision).await;
        let [mut two] = nodes(&store, revision).await;
        two.subscribe("notes://today").await.unwrap();
        for request in 0..3 {
            faulty.fault_at(faulty.requests() + request, StoreFault::FailsAfter);
        }
        for _ in 0..2 {
            one.call("update", json!({ "uri": "notes://today" })).await.unwrap();
            assert_eq!(updated(&mut two).await, "notes://today");
            assert!(two.notification(Duration::from_secs(5)).await.is_none());
        }
    }

    async fn a_switch_lasts_as_long_as_a_node_lives(revision) {
        let store = SharedStore::new();
        let [mut one, mut two] = nodes(&store, revision).await;
        one.call("switch", json!({ "how": "disable", "name": "update" })).await.unwrap();
        eventually("the tool to be disabled", async || two.tools().await.unwrap().len() == 1).await;
        drop(one);
        // The other node renews the switch while ten minutes pass.
        while two.notification(Duration::from_secs(600)).await.is_some() {}
        let [mut late] = nodes(&store, revision).await;
        assert_eq!(late.tools().await.unwrap().len(), 1);
        drop((two, late));
        tokio::time::advance(Duration::from_secs(600)).await;
        let [mut first] = nodes(&store, revision).await;
        assert_eq!(first.tools().await.unwrap().len(), 2);
    }
}
