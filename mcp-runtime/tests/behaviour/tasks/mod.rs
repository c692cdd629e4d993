//! Tasks, which are calls that continue after their response. The two dialects of tasks, of 2025-11-25 and of the extension to 2026-07-28,
//! use the same handlers and the same store.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use mcp_runtime::{
    items,
    prelude::*,
    server,
    store::{Output, Store, StoreOperation, Transaction},
    testing::{Revision, TestClient},
};
use serde_json::{Value, json};

use crate::support::hold_thread;

#[cfg(feature = "auth")]
mod again;
mod edges;
mod kept;
mod news;
mod order;
mod questions;
mod threads;

const V4: Revision = Revision::V2025_11_25;
const V5: Revision = Revision::V2026_07_28;

#[form]
struct Name {
    name: String,
}

/// Number of times that a handler ran to its end.
#[derive(Default)]
struct Ends(AtomicUsize);

/// Takes this many seconds.
#[tool(task)]
async fn slow(seconds: u64, ends: &Ends) -> String {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    ends.0.fetch_add(1, Ordering::SeqCst);
    format!("{seconds} s")
}

/// Runs only as a task.
#[tool(task = "required")]
async fn failing() -> Result<String> {
    tokio::time::sleep(Duration::from_secs(1)).await;
    Err(Error::msg("no luck"))
}

#[tool(task)]
async fn broken() -> Result<String> {
    tokio::time::sleep(Duration::from_secs(1)).await;
    Err(Error::code(77, "it broke").with_data(json!({ "why": "age" })))
}

#[tool(task)]
async fn reports(progress: Progress) -> String {
    for step in 1..=3 {
        progress.total(3).say(step, format!("step {step}"));
        tokio::time::sleep(Duration::from_secs(10)).await;
    }
    "all".to_owned()
}

/// Two questions at once, then one more.
#[tool(task)]
async fn asks(ctx: &Context) -> Result<String> {
    let (a, b) = tokio::join!(ctx.elicit::<Name>("a", "A?"), ctx.elicit::<Name>("b", "B?"));
    let c: Name = ctx.elicit("c", "C?").await?;
    Ok(format!("{} {} {}", a?.name, b?.name, c.name))
}

/// Asks in the call, works in the task.
#[tool(task(required, later, ttl = "2m", poll = "3s"))]
async fn first_asks(ctx: &Context) -> Result<String> {
    let Name { name } = ctx.elicit("name", "Name?").await?;
    ctx.begin_task().await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    let last: Name = ctx.elicit("last", "Last name?").await?;
    Ok(format!("{name} {}", last.name))
}

#[tool]
fn plain() -> &'static str {
    "plain"
}

#[tool(task, blocking)]
fn threaded() -> &'static str {
    hold_thread(Duration::from_millis(20));
    "from a thread"
}

fn everything() -> mcp_runtime::Builder {
    server!()
        .state(Ends::default())
        .items(items![slow, failing, broken, reports, asks, first_asks, plain, threaded])
}

async fn connect_to(server: mcp_runtime::Builder, revision: Revision) -> TestClient {
    let can = json!({
        "elicitation": {},
        "extensions": { "io.modelcontextprotocol/tasks": {} },
    });
    TestClient::connect_capable(server, revision, can).await.expect("the server starts")
}

async fn connect(revision: Revision) -> TestClient {
    connect_to(everything(), revision).await
}

/// Begins a task in the client's dialect, and returns its id.
async fn begin(client: &mut TestClient, tool: &str, arguments: Value) -> String {
    let created = create(client, tool, arguments).await;
    let task = if client.revision() == V5 { &created } else { &created["task"] };
    task["taskId"].as_str().expect("it is a task").to_owned()
}

async fn create(client: &mut TestClient, tool: &str, arguments: Value) -> Value {
    let mut params = json!({ "name": tool, "arguments": arguments });
    if client.revision() == V4 {
        params["task"] = json!({});
    }
    client.request("tools/call", params).await.expect("the call is accepted")
}

async fn get(client: &mut TestClient, id: &str) -> Value {
    client.request("tasks/get", json!({ "taskId": id })).await.expect("the task is there")
}

async fn pause(seconds: u64) {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
}

/// Checks the members that every task has in every state.
fn check_shape(task: &Value, revision: Revision) {
    let (ttl, poll, others) = match revision {
        V5 => ("ttlMs", "pollIntervalMs", ["ttl", "pollInterval", "task", "requestState"]),
        _ => ("ttl", "pollInterval", ["ttlMs", "pollIntervalMs", "task", "requestState"]),
    };
    assert!(task["taskId"].as_str().unwrap().len() >= 32, "{task}");
    for time in ["createdAt", "lastUpdatedAt"] {
        let text = task[time].as_str().unwrap();
        assert!(text.len() == 24 && text.ends_with('Z'), "{task}");
    }
    assert!(task[ttl].as_u64().is_some() && task[poll].as_u64().unwrap() > 0, "{task}");
    for other in others {
        assert!(task.get(other).is_none(), "{other} in {task}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_is_created_polled_and_read_in_the_older_dialect() {
    let mut client = connect(V4).await;
    let created = create(&mut client, "slow", json!({ "seconds": 8 })).await;
    let task = &created["task"];
    check_shape(task, V4);
    assert_eq!((task["status"].as_str(), task["ttl"].as_u64()), (Some("working"), Some(3_600_000)));
    let id = task["taskId"].as_str().unwrap();
    let seen = get(&mut client, id).await;
    check_shape(&seen, V4);
    assert_eq!(seen["status"], "working");
    let result = client.request("tasks/result", json!({ "taskId": id })).await.unwrap();
    assert_eq!(result["content"][0]["text"], "8 s");
    let related = &result["_meta"]["io.modelcontextprotocol/related-task"]["taskId"];
    assert_eq!(related, id);
    assert_eq!(get(&mut client, id).await["status"], "completed");
}

#[tokio::test(start_paused = true)]
async fn a_task_is_created_and_polled_in_the_newer_dialect() {
    let mut client = connect(V5).await;
    let created = create(&mut client, "slow", json!({ "seconds": 60 })).await;
    assert_eq!(created["resultType"], "task");
    check_shape(&created, V5);
    for payload in ["result", "error", "inputRequests"] {
        assert!(created.get(payload).is_none());
    }
    let id = created["taskId"].as_str().unwrap();
    let seen = get(&mut client, id).await;
    check_shape(&seen, V5);
    assert_eq!((&seen["status"], &seen["resultType"]), (&json!("working"), &json!("complete")));
    pause(61).await;
    let seen = get(&mut client, id).await;
    assert_eq!(seen["status"], "completed");
    assert_eq!(seen["result"]["content"][0]["text"], "60 s");
    assert!(seen["result"].get("_meta").is_none());
}

#[tokio::test(start_paused = true)]
async fn a_test_client_polls_tasks_by_itself() {
    let mut client = connect(V5).await;
    let called = client.call("slow", json!({ "seconds": 90 })).await.unwrap();
    assert_eq!(called.text(), "90 s");
    let error = client.call("broken", json!({})).await.unwrap_err();
    assert_eq!((error.code, error.message.as_str()), (77, "it broke"));
}

#[tokio::test(start_paused = true)]
async fn a_client_that_requests_no_task_gets_the_result_directly() {
    // Neither client requests a task. In the dialect of 2025-11-25 the request has no `task`, and in that of 2026-07-28 the client does not
    // declare the extension.
    let mut client = connect(V4).await;
    assert_eq!(client.call("slow", json!({ "seconds": 2 })).await.unwrap().text(), "2 s");
    let mut client = TestClient::connect_with(everything(), V5).await.unwrap();
    assert_eq!(client.call("slow", json!({ "seconds": 2 })).await.unwrap().text(), "2 s");
    for revision in [Revision::V2024_11_05, Revision::V2025_03_26, Revision::V2025_06_18] {
        let mut client = TestClient::connect_with(everything(), revision).await.unwrap();
        assert_eq!(client.call("slow", json!({ "seconds": 2 })).await.unwrap().text(), "2 s");
        let error = client.call("failing", json!({})).await.unwrap_err();
        assert_eq!(error.code, -32601, "{revision}: {error}");
        let error = client.request("tasks/list", json!({})).await.unwrap_err();
        assert_eq!(error.code, -32601, "{revision}: {error}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_ends_at_once_becomes_no_task_in_the_newer_dialect() {
    let mut client = connect(V5).await;
    let answer = create(&mut client, "slow", json!({ "seconds": 0 })).await;
    // A sleep of zero seconds still yields once, so both a task and a direct result are correct. If there is a task, it must be found.
    if answer["resultType"] == "task" {
        assert_eq!(client.finish_task(&answer).await.unwrap().text(), "0 s");
    } else {
        assert_eq!(answer["content"][0]["text"], "0 s");
    }
    let answer = create(&mut client, "plain", json!({})).await;
    assert_eq!(
        (answer["resultType"].as_str(), &answer["taskId"]),
        (Some("complete"), &Value::Null)
    );
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_requires_a_task_rejects_clients_without_tasks() {
    let mut client = connect(V4).await;
    let error = client.call("failing", json!({})).await.unwrap_err();
    assert_eq!(error.code, -32601);
    assert!(error.message.contains("`failing`") && error.message.contains("`task`"), "{error}");
    let params = json!({ "name": "plain", "task": {} });
    let error = client.request("tools/call", params).await.unwrap_err();
    assert_eq!(error.code, -32601, "{error}");
    for wrong in [json!([]), json!(7), json!({ "ttl": "long" }), json!({ "ttl": -1 })] {
        let params = json!({ "name": "slow", "arguments": { "seconds": 1 }, "task": wrong });
        let error = client.request("tools/call", params).await.unwrap_err();
        assert_eq!(error.code, -32602, "{error}");
    }
    let mut client = TestClient::connect_with(everything(), V5).await.unwrap();
    let error = client.call("failing", json!({})).await.unwrap_err();
    assert_eq!(error.code, -32021);
    let required = &error.data.unwrap()["requiredCapabilities"];
    assert_eq!(required, &json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } }));
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let params = json!({ "taskId": "x", "inputResponses": {} });
        let error = client.request(method, params).await.unwrap_err();
        assert_eq!(error.code, -32021, "{method}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_extra_parameter_of_the_other_dialect_is_ignored() {
    let mut client = connect(V5).await;
    let params = json!({ "name": "plain", "task": { "ttl": 5 } });
    let answer = client.request("tools/call", params).await.unwrap();
    assert_eq!(answer["content"][0]["text"], "plain");
    // A server without task tools ignores the parameter `task`.
    let mut client = connect_to(server!().items(items![plain]), V4).await;
    let params = json!({ "name": "plain", "task": { "ttl": 5 } });
    let answer = client.request("tools/call", params).await.unwrap();
    assert_eq!(answer["content"][0]["text"], "plain");
    let error = client.request("tasks/list", json!({})).await.unwrap_err();
    assert_eq!(error.code, -32601);
}

#[tokio::test(start_paused = true)]
async fn each_dialect_has_its_own_methods_and_words() {
    let mut client = connect(V4).await;
    let said = client.discover().await.unwrap();
    let expected = json!({ "list": {}, "cancel": {}, "requests": { "tools": { "call": {} } } });
    assert_eq!(said["capabilities"]["tasks"], expected);
    assert!(said["capabilities"].get("extensions").is_none());
    let tools = client.tools().await.unwrap();
    let support = |name: &str| {
        let tool = tools.iter().find(|tool| tool["name"] == name).unwrap();
        tool["execution"]["taskSupport"].as_str().map(str::to_owned)
    };
    assert_eq!(support("slow").as_deref(), Some("optional"));
    assert_eq!(support("failing").as_deref(), Some("required"));
    assert_eq!(support("plain"), None);
    let error = client.request("tasks/update", json!({})).await.unwrap_err();
    assert_eq!(error.code, -32601);

    let mut client = connect(V5).await;
    let said = client.discover().await.unwrap();
    let extensions = &said["capabilities"]["extensions"];
    assert_eq!(extensions, &json!({ "io.modelcontextprotocol/tasks": {} }));
    assert!(said["capabilities"].get("tasks").is_none());
    assert!(client.tools().await.unwrap().iter().all(|tool| tool.get("execution").is_none()));
    for method in ["tasks/result", "tasks/list"] {
        let error = client.request(method, json!({})).await.unwrap_err();
        assert_eq!(error.code, -32601, "{method}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_status_of_a_failed_tool_depends_on_the_dialect() {
    let mut client = connect(V4).await;
    let id = begin(&mut client, "failing", json!({})).await;
    let result = client.request("tasks/result", json!({ "taskId": id })).await.unwrap();
    assert_eq!(result["isError"], true);
    let seen = get(&mut client, &id).await;
    assert_eq!((&seen["status"], &seen["statusMessage"]), (&json!("failed"), &json!("no luck")));
    let id = begin(&mut client, "broken", json!({})).await;
    let error = client.request("tasks/result", json!({ "taskId": id })).await.unwrap_err();
    assert_eq!((error.code, error.data.unwrap()), (77, json!({ "why": "age" })));
    assert_eq!(get(&mut client, &id).await["status"], "failed");

    let mut client = connect(V5).await;
    let id = begin(&mut client, "failing", json!({})).await;
    pause(2).await;
    let seen = get(&mut client, &id).await;
    assert_eq!((&seen["status"], &seen["result"]["isError"]), (&json!("completed"), &json!(true)));
    let id = begin(&mut client, "broken", json!({})).await;
    pause(2).await;
    let seen = get(&mut client, &id).await;
    assert_eq!(seen["status"], "failed");
    assert_eq!(
        seen["error"],
        json!({ "code": 77, "message": "it broke", "data": { "why": "age" } })
    );
    assert!(seen.get("result").is_none());
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_task_stays_cancelled() {
    for revision in [V4, V5] {
        let mut client = connect(revision).await;
        let id = begin(&mut client, "slow", json!({ "seconds": 5 })).await;
        let which = json!({ "taskId": id });
        let answer = client.request("tasks/cancel", which.clone()).await.unwrap();
        if revision == V5 {
            assert!(answer.get("status").is_none() && answer["resultType"] == "complete");
        } else {
            assert_eq!(answer["status"], "cancelled");
        }
        assert_eq!(get(&mut client, &id).await["status"], "cancelled");
        pause(10).await;
        assert_eq!(get(&mut client, &id).await["status"], "cancelled");
        let again = client.request("tasks/cancel", which.clone()).await;
        if revision == V5 {
            assert_eq!(again.unwrap()["resultType"], "complete");
        } else {
            let error = again.unwrap_err();
            assert_eq!(error.code, -32602, "{error}");
            let error = client.request("tasks/result", which).await.unwrap_err();
            assert!(error.message.contains("cancelled"), "{error}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_task_does_not_run_to_its_end() {
    let ends = Arc::new(Ends::default());
    #[tool(task)]
    async fn counts(ends: &Arc<Ends>) -> &'static str {
        tokio::time::sleep(Duration::from_secs(5)).await;
        ends.0.fetch_add(1, Ordering::SeqCst);
        "end"
    }
    let mut client = connect_to(server!().state(ends.clone()).items(items![counts]), V5).await;
    let id = begin(&mut client, "counts", json!({})).await;
    client.request("tasks/cancel", json!({ "taskId": id })).await.unwrap();
    pause(10).await;
    assert_eq!(ends.0.load(Ordering::SeqCst), 0);
}

#[tokio::test(start_paused = true)]
async fn requests_for_an_unknown_task_are_refused() {
    for revision in [V4, V5] {
        let mut client = connect(revision).await;
        let last = if revision == V5 { "tasks/update" } else { "tasks/result" };
        for method in ["tasks/get", "tasks/cancel", last] {
            let params = json!({ "taskId": "none", "inputResponses": {} });
            let error = client.request(method, params).await.unwrap_err();
            assert_eq!(error.code, -32602, "{method}: {error}");
            let error = client.request(method, json!({ "taskId": 5 })).await.unwrap_err();
            assert_eq!(error.code, -32602, "{method}: {error}");
        }
    }
}

fn accept(name: &str) -> Value {
    json!({ "action": "accept", "content": { "name": name } })
}

/// Uses one key of `once` for two steps.
#[tool(task)]
async fn once_twice(ctx: &Context) -> Result<String> {
    for at in 0..2 {
        ctx.once("step", async || Ok::<_, Error>(at)).await?;
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    Ok("done".to_owned())
}

#[tokio::test(start_paused = true)]
async fn reusing_a_key_of_once_is_an_error_in_a_task_too() {
    for revision in [V4, V5] {
        let mut client = connect_to(server!().items(items![once_twice]), revision).await;
        let created = create(&mut client, "once_twice", json!({})).await;
        let error = client.finish_task(&created).await.unwrap_err();
        assert_eq!(error.code, -32603, "{revision}: {error}");
    }
}

/// Whether the transactions write a task.
fn writes_a_task(transactions: &[Transaction]) -> bool {
    let mut operations = transactions.iter().flat_map(|transaction| &transaction.operations);
    operations.any(|operation| matches!(operation, StoreOperation::Put { .. }))
}

/// Whether the transactions write the outcome of a task.
fn writes_an_end(transactions: &[Transaction]) -> bool {
    let mut operations = transactions.iter().flat_map(|transaction| &transaction.operations);
    operations.any(
        |operation| matches!(operation, StoreOperation::Put { name, .. } if name.ends_with("/end")),
    )
}

/// Returns the number of tasks of unknown callers that have not ended, as the store keeps them.
async fn unfinished_count(store: &dyn Store) -> usize {
    let list = Transaction::on("tasks:").then(StoreOperation::list("unfinished", None, 100));
    let mut results = store.execute(vec![list]).await.unwrap();
    match results.remove(0).unwrap().remove(0) {
        Output::Entries(entries) => entries.len(),
        other => panic!("entries, not {other:?}"),
    }
}
