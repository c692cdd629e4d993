//! Each test runs a scenario once for every request that the scenario sends to the store, and for every fault. The store delays, fails or
//! repeats this request. In most scenarios, a second server with the same data shows what the store holds.

use std::{sync::Arc, time::Duration};

use mcp_runtime::{
    Builder, items,
    prelude::*,
    server,
    store::{MemoryStore, Store},
    testing::{FaultyStore, Revision, StoreFault, TestClient},
};
use serde_json::{Value, json};

use crate::support::pass;

const V5: Revision = Revision::V2026_07_28;

const FAULTS: [StoreFault; 4] = [
    StoreFault::FailsBefore,
    StoreFault::FailsAfter,
    StoreFault::Repeats,
    StoreFault::Delays(Duration::from_secs(2)),
];

/// Takes a second.
#[tool(task)]
async fn work() -> &'static str {
    tokio::time::sleep(Duration::from_secs(1)).await;
    "the result"
}

async fn client(server: Builder, store: impl Store) -> TestClient {
    let can = json!({ "elicitation": {}, "extensions": { "io.modelcontextprotocol/tasks": {} } });
    let client = TestClient::connect_capable(server.store(store), V5, can).await;
    client.expect("the server starts")
}

async fn get(client: &mut TestClient, id: &str) -> Option<Value> {
    client.request("tasks/get", json!({ "taskId": id })).await.ok()
}

/// Runs a task with a fault at a request. Returns the number of requests, and whether the client was told of the task.
async fn run_task(fault: Option<(usize, StoreFault)>) -> (usize, bool) {
    let memory = Arc::new(MemoryStore::new().shared());
    let faulty = FaultyStore::new(memory.clone());
    let server = || server!().items(items![work]);
    let mut one = client(server(), faulty.clone()).await;
    let mut two = client(server(), memory).await;
    let before = faulty.requests();
    if let Some((number, fault)) = fault {
        faulty.fault_at(before + number, fault);
    }
    let call = json!({ "name": "work", "arguments": {} });
    let created = match one.request("tools/call", call).await {
        Ok(created) => created,
        Err(error) => {
            assert!(error.message.contains("the store of the server"), "{fault:?}: {error}");
            return (faulty.requests() - before, false);
        }
    };
    let id = created["taskId"].as_str().expect("a task");
    assert!(get(&mut two, id).await.is_some(), "{fault:?}: the store does not know the task");
    for _ in 0..200 {
        pass(Duration::from_millis(100)).await;
        let Some(seen) = get(&mut one, id).await else { continue };
        if seen["status"] == "working" {
            continue;
        }
        let stored = get(&mut two, id).await.expect("the store knows the task");
        assert_eq!(seen["result"]["content"][0]["text"], "the result", "{fault:?}: {seen}");
        assert_eq!(stored["result"], seen["result"], "{fault:?}: {stored}");
        return (faulty.requests() - before, true);
    }
    panic!("{fault:?}: the task does not end");
}

#[tokio::test(start_paused = true)]
async fn a_client_is_told_of_no_task_and_no_result_that_the_store_does_not_hold() {
    let (requests, is_told) = run_task(None).await;
    assert!(is_told && requests >= 3, "{requests}");
    let mut untold = 0;
    for fault in FAULTS {
        for number in 0..requests {
            untold += usize::from(!run_task(Some((number, fault))).await.1);
        }
    }
    // If the request fails that stores the task, the client gets an error and no task. Two of the faults let a request fail.
    assert!((1..=4).contains(&untold), "{untold}");
}

#[tokio::test(start_paused = true)]
async fn a_node_starts_although_a_request_of_its_start_fails() {
    let start = async |fault: Option<(usize, StoreFault)>| {
        let faulty = FaultyStore::new(MemoryStore::new().shared());
        if let Some((number, fault)) = fault {
            faulty.fault_at(number, fault);
        }
        client(server!().items(items![work]), faulty.clone()).await;
        faulty.requests()
    };
    let requests = start(None).await;
    assert!(requests >= 4, "{requests}");
    for fault in FAULTS {
        for number in 0..requests {
            start(Some((number, fault))).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_node_whose_store_stays_unavailable_does_not_start() {
    let faulty = FaultyStore::new(MemoryStore::new().shared());
    (0..1000).for_each(|number| faulty.fault_at(number, StoreFault::FailsBefore));
    let began = tokio::time::Instant::now();
    let started = TestClient::connect_with(server!().items(items![work]).store(faulty), V5).await;
    assert_eq!(began.elapsed().as_secs(), 4);
    let why = started.expect_err("the store is unavailable").to_string();
    assert!(why.contains("a fault of the test"), "{why}");
}

#[cfg(feature = "state-key")]
mod sealed {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[form]
    struct Name {
        name: String,
    }

    #[tool(single_use)]
    async fn pays(ctx: &Context, payments: &Arc<AtomicUsize>) -> Result<String> {
        let name: Name = ctx.elicit("name", "Who pays?").await?;
        payments.fetch_add(1, Ordering::SeqCst);
        Ok(name.name)
    }

    /// Continues a call twice, the first time with a fault at a request. Returns the number of requests.
    async fn pay_twice(fault: Option<(usize, StoreFault)>) -> usize {
        let memory = Arc::new(MemoryStore::new().shared());
        let faulty = FaultyStore::new(memory.clone());
        let payments = Arc::<AtomicUsize>::default();
        let server = || server!().items(items![pays]).state(payments.clone());
        let mut one = client(server(), faulty.clone()).await;
        let mut two = client(server(), memory).await;
        let mut next = json!({ "name": "pays", "arguments": {} });
        let asked = one.start("tools/call", next.clone());
        let asked = one.wait(asked).await.unwrap();
        next["requestState"] = asked["requestState"].clone();
        let answer = json!({ "action": "accept", "content": { "name": "Ada" } });
        next["inputResponses"] = json!({ "name": answer });
        let before = faulty.requests();
        if let Some((number, fault)) = fault {
            faulty.fault_at(before + number, fault);
        }
        let first = one.start("tools/call", next.clone());
        let first = one.wait(first).await;
        let requests = faulty.requests() - before;
        let second = two.start("tools/call", next);
        let second = two.wait(second).await;
        let paid = payments.load(Ordering::SeqCst);
        assert_eq!(paid, usize::from(first.is_ok()) + usize::from(second.is_ok()), "{fault:?}");
        assert!(paid <= 1, "{fault:?}: {paid} payments");
        if fault.is_none() || matches!(fault, Some((_, StoreFault::FailsBefore))) {
            assert_eq!(paid, 1, "{fault:?}");
        }
        requests
    }

    #[tokio::test(start_paused = true)]
    async fn a_state_for_single_use_is_never_used_twice() {
        let requests = pay_twice(None).await;
        assert!(requests >= 1);
        for fault in FAULTS {
            for number in 0..requests {
                pay_twice(Some((number, fault))).await;
            }
        }
    }
}
