//! Limits on the lifetime and number of tasks, and tasks after a restart.

use mcp_runtime::store::{Condition, MemoryStore};

use super::*;
use crate::support::eventually;

#[tokio::test(start_paused = true)]
async fn a_client_gets_the_list_of_all_its_tasks_page_by_page() {
    let mut client = connect(V4).await;
    let mut ids = Vec::new();
    for _ in 0..120 {
        ids.push(begin(&mut client, "slow", json!({ "seconds": 1 })).await);
    }
    pause(2).await;
    let (mut found, mut params, mut pages) = (Vec::new(), json!({}), 0);
    loop {
        let page = client.request("tasks/list", params).await.unwrap();
        pages += 1;
        for task in page["tasks"].as_array().unwrap() {
            check_shape(task, V4);
            assert_eq!(task["status"], "completed");
            found.push(task["taskId"].as_str().unwrap().to_owned());
        }
        let Some(cursor) = page.get("nextCursor") else { break };
        params = json!({ "cursor": cursor });
    }
    found.sort();
    ids.sort();
    assert_eq!((pages, found), (2, ids));
    let error = client.request("tasks/list", json!({ "cursor": "x" })).await.unwrap_err();
    assert_eq!(error.code, -32602);
}

#[tokio::test(start_paused = true)]
async fn a_task_ends_with_its_time() {
    for revision in [V4, V5] {
        let server = |ttl| {
            let limits = mcp_runtime::limits::Limits::new().task_ttl(ttl);
            connect_to(everything().limits(limits), revision)
        };
        let mut client = server(Duration::from_secs(3600)).await;
        let id = begin(&mut client, "slow", json!({ "seconds": 5000 })).await;
        assert_eq!(get(&mut client, &id).await["status"], "working");
        pause(3601).await;
        assert_eq!(get(&mut client, &id).await["status"], "cancelled");
        // Tasks expire by the system clock, which the paused clock does not move.
        let mut client = server(Duration::from_millis(1)).await;
        let id = begin(&mut client, "slow", json!({ "seconds": 5 })).await;
        eventually("the task expires", async || {
            let seen = client.request("tasks/get", json!({ "taskId": id })).await;
            seen.is_err_and(|error| error.code == -32602)
        })
        .await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_can_shorten_the_lifetime_of_its_task() {
    let mut client = connect(V4).await;
    for (wanted, given) in [(5_000, 5_000), (0, 1_000), (99_000_000, 3_600_000)] {
        let task = json!({ "ttl": wanted });
        let params = json!({ "name": "slow", "arguments": { "seconds": 1 }, "task": task });
        let created = client.request("tools/call", params).await.unwrap();
        assert_eq!(created["task"]["ttl"], given);
    }
}

#[tokio::test(start_paused = true)]
async fn the_number_of_running_tasks_is_limited() {
    for revision in [V4, V5] {
        let limits = mcp_runtime::limits::Limits::new().tasks(2);
        let mut client = connect_to(everything().limits(limits), revision).await;
        for _ in 0..2 {
            begin(&mut client, "slow", json!({ "seconds": 5 })).await;
        }
        let params = json!({ "name": "slow", "arguments": { "seconds": 5 }, "task": {} });
        let error = client.request("tools/call", params).await.unwrap_err();
        assert!(error.message.contains("2 tasks"), "{error}");
        pause(6).await;
        begin(&mut client, "slow", json!({ "seconds": 5 })).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_full_store_evicts_finished_tasks_first() {
    let store = MemoryStore::new().bytes(10_000);
    let mut client = connect_to(everything().store(store), V5).await;
    let first = begin(&mut client, "slow", json!({ "seconds": 1 })).await;
    let call = json!({ "name": "slow", "arguments": { "seconds": 60 } });
    let mut others = Vec::new();
    let error = loop {
        assert!(others.len() < 100, "the store is never full");
        match client.request("tools/call", call.clone()).await {
            Ok(created) => others.push(created["taskId"].as_str().unwrap().to_owned()),
            Err(error) => break error,
        }
    };
    assert!(error.message.contains("no room") && others.len() > 2, "{error}");
    pause(2).await;
    assert_eq!(get(&mut client, &first).await["status"], "completed");
    others.push(begin(&mut client, "slow", json!({ "seconds": 60 })).await);
    assert!(client.request("tasks/get", json!({ "taskId": first })).await.is_err());
    for id in others {
        assert_eq!(get(&mut client, &id).await["status"], "working");
    }
}

/// Number of times that each tool began, across restarts.
#[derive(Default)]
struct Begun {
    once: AtomicUsize,
    again: AtomicUsize,
}

#[tool(task)]
async fn once(begun: &Arc<Begun>) -> &'static str {
    begun.once.fetch_add(1, Ordering::SeqCst);
    tokio::time::sleep(Duration::from_secs(30)).await;
    "once"
}

#[tool(task, idempotent)]
async fn again(begun: &Arc<Begun>, ctx: &Context, text: &str) -> Result<String> {
    begun.again.fetch_add(1, Ordering::SeqCst);
    tokio::time::sleep(Duration::from_secs(30)).await;
    let name: Name = ctx.elicit("name", "Name?").await?;
    Ok(format!("{text} {}", name.name))
}

#[tool(task, idempotent, concurrency = 1)]
async fn alone() -> &'static str {
    tokio::time::sleep(Duration::from_secs(30)).await;
    "alone"
}

/// A task that runs again after a restart counts towards the number of calls that may run at once.
#[tokio::test(start_paused = true)]
async fn a_task_takes_its_slot_again_after_a_restart() {
    let store = Arc::new(MemoryStore::new());
    let server = || server!().items(items![alone]).store(store.clone());
    let mut client = connect_to(server(), V5).await;
    begin(&mut client, "alone", json!({})).await;
    drop(client);
    let mut client = connect_to(server(), V5).await;
    let call = json!({ "name": "alone", "arguments": {} });
    let refused = client.request("tools/call", call).await.unwrap();
    assert!(refused.to_string().contains("is running already"), "{refused}");
    pause(31).await;
    begin(&mut client, "alone", json!({})).await;
}

#[tokio::test(start_paused = true)]
async fn tasks_in_a_store_survive_their_server() {
    let (store, begun) = (Arc::new(MemoryStore::new()), Arc::new(Begun::default()));
    let server = || {
        let items = items![once, again, slow];
        server!().state(begun.clone()).state(Ends::default()).items(items).store(store.clone())
    };
    let mut client = connect_to(server(), V5).await;
    let finished = begin(&mut client, "slow", json!({ "seconds": 1 })).await;
    let lost = begin(&mut client, "once", json!({})).await;
    let rerun = begin(&mut client, "again", json!({ "text": "hello" })).await;
    pause(2).await;
    drop(client);

    let mut client = connect_to(server(), V5).await;
    assert_eq!(get(&mut client, &finished).await["result"]["content"][0]["text"], "1 s");
    let seen = get(&mut client, &lost).await;
    assert_eq!(
        (seen["status"].as_str(), seen["error"]["code"].as_i64()),
        (Some("failed"), Some(-32603))
    );
    assert!(seen["statusMessage"].as_str().unwrap().contains("server stopped"), "{seen}");
    assert_eq!(get(&mut client, &rerun).await["status"], "working");
    assert_eq!(begun.once.load(Ordering::SeqCst), 1);
    pause(31).await;
    assert_eq!(begun.again.load(Ordering::SeqCst), 2);
    let seen = get(&mut client, &rerun).await;
    assert_eq!(seen["status"], "input_required", "the client can still be asked");
    client.answer_with(|_, _| accept("Al"));
    let created = json!({ "taskId": rerun });
    assert_eq!(client.finish_task(&created).await.unwrap().text(), "hello Al");
}

#[tokio::test(start_paused = true)]
async fn an_unreadable_stored_task_does_not_block_the_other_tasks() {
    let (store, begun) = (Arc::new(MemoryStore::new()), Arc::new(Begun::default()));
    let hour = Duration::from_secs(3600);
    let garbage = Transaction::on("tasks:")
        .then(StoreOperation::put("garbage", *b"1  0 {", hour, Condition::Any))
        .then(StoreOperation::put("nonsense", *b"{", hour, Condition::Any))
        .then(StoreOperation::enlist("unfinished", "garbage", 1, hour))
        .then(StoreOperation::enlist("unfinished", "nonsense", 1, hour));
    let owner = Transaction::on("tasks").then(StoreOperation::enlist("owners", "tasks:", 0, hour));
    store.execute(vec![garbage, owner]).await.unwrap();
    let server = || {
        let items = items![once];
        server!().state(begun.clone()).items(items).store(store.clone())
    };
    let mut client = connect_to(server(), V5).await;
    let lost = begin(&mut client, "once", json!({})).await;
    drop(client);
    let mut client = connect_to(server(), V5).await;
    assert_eq!(get(&mut client, &lost).await["status"], "failed");
    for id in ["garbage", "nonsense"] {
        let error = client.request("tasks/get", json!({ "taskId": id })).await.unwrap_err();
        assert_eq!((error.code, error.message.as_str()), (-32603, "internal error"));
    }
}
