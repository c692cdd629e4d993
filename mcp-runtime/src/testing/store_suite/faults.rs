//! Tests of a server whose store delays, fails or repeats a request, once for each request of a scenario and each fault.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::sync::Semaphore;

use super::until;
use crate::{
    builder::{Builder, items},
    call::context::Context,
    catalog::{Handle, Tool},
    model::TaskSupport,
    protocol::Revision,
    storage::Store,
    testing::{FaultyStore, StoreFault, TestClient},
};

const FAULTS: [StoreFault; 4] = [
    StoreFault::FailsBefore,
    StoreFault::FailsAfter,
    StoreFault::Repeats,
    StoreFault::Delays(Duration::from_millis(20)),
];

/// Fault at the request with this number, or none.
type Fault = Option<(usize, StoreFault)>;

/// Returns a server with a tool that waits for a permit.
fn server(permits: Arc<Semaphore>) -> Builder {
    // The items of the program that runs the suite may need state.
    crate::server!(crate = crate).items(items(&[])).setup(async move |server: Handle| {
        let work = move |_: Context| {
            let permits = permits.clone();
            async move {
                permits.acquire().await.expect("the test closes no semaphore").forget();
                "the result"
            }
        };
        let tool = Tool::new("work").description("Waits for a permit.");
        server.add(tool.task(TaskSupport::new().required()).handler(work))
    })
}

/// Client of a server with a store, and the permits of the server's tool.
struct TaskClient {
    client: TestClient,
    permits: Arc<Semaphore>,
}

impl TaskClient {
    async fn of(store: impl Store) -> Self {
        let permits = Arc::new(Semaphore::new(0));
        let can = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
        let server = server(permits.clone()).store(store);
        let client = TestClient::connect_capable(server, Revision::V2026_07_28, can).await;
        Self { client: client.expect("the server starts"), permits }
    }

    async fn get(&mut self, id: &str) -> Option<Value> {
        self.client.request("tasks/get", json!({ "taskId": id })).await.ok()
    }
}

/// Starts a task with a fault. Returns the client with the id of the task, or `None` if the client was told of no task.
async fn start<S: Store>(
    store: &FaultyStore<Arc<S>>,
    fault: Fault,
) -> Option<(TaskClient, String)> {
    let mut one = TaskClient::of(store.clone()).await;
    if let Some((number, fault)) = fault {
        store.fault_at(store.requests() + number, fault);
    }
    let call = json!({ "name": "work", "arguments": {} });
    let created = one.client.request("tools/call", call).await.ok()?;
    let id = created["taskId"].as_str().expect("the id of a task").to_owned();
    Some((one, id))
}

/// Runs a task with a fault. Returns the number of requests until the client has the result.
async fn run<S: Store>(store: &Arc<S>, fault: Fault) -> usize {
    let faulty = FaultyStore::new(store.clone());
    let Some((mut one, id)) = start(&faulty, fault).await else { return 0 };
    one.permits.add_permits(1);
    let mut seen = Value::Null;
    until("the end of the task", async || {
        seen = one.get(&id).await.unwrap_or_default();
        seen["status"] == "completed"
    })
    .await;
    drop(one);
    // A store of a single server may fail at the end of a task. The client then gets the result as long as the server runs.
    let is_lost = matches!(fault, Some((_, StoreFault::FailsBefore | StoreFault::FailsAfter)));
    if store.is_shared() || !is_lost {
        let stored = TaskClient::of(store.clone()).await.get(&id).await;
        let stored = stored.unwrap_or_else(|| panic!("{fault:?}: the store has lost the task"));
        assert_eq!(stored["result"], seen["result"], "{fault:?}: {stored}");
    }
    faulty.requests()
}

pub async fn a_server_tells_clients_of_no_task_that_the_store_does_not_hold<S: Store>(
    store: Arc<S>,
) {
    let mut untold = 0;
    for fault in FAULTS {
        // The first requests of a call create its task, and those of other parts of the server come between them.
        for number in 0..4 {
            let faulty = FaultyStore::new(store.clone());
            let Some((one, id)) = start(&faulty, Some((number, fault))).await else {
                untold += 1;
                continue;
            };
            drop(one);
            let stored = TaskClient::of(store.clone()).await.get(&id).await;
            assert!(stored.is_some(), "{fault:?} at {number}: the store does not know the task");
        }
    }
    assert!(untold > 0, "no fault has met the request that stores the task");
}

pub async fn a_server_tells_clients_of_no_result_that_the_store_does_not_hold<S: Store>(
    store: Arc<S>,
) {
    let requests = run(&store, None).await;
    for fault in FAULTS {
        for number in 0..requests {
            run(&store, Some((number, fault))).await;
        }
    }
}
