//! Calls that go on after their answer, in both dialects: the same handlers, and the same store.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use mcp_runtime::{
    Keeping, KeptTask, MemoryTasks, TaskStore, items,
    prelude::*,
    server,
    testing::{Client as TestClient, Revision},
};
use serde_json::{Value, json};

const V4: Revision = Revision::V2025_11_25;
const V5: Revision = Revision::V2026_07_28;

#[form]
struct Name {
    name: String,
}

/// How often something ran to its end.
#[derive(Default)]
struct Ends(AtomicUsize);

/// Takes a while.
#[tool(task)]
async fn slow(seconds: u64, ends: &Ends) -> String {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    ends.0.fetch_add(1, Ordering::SeqCst);
    format!("{seconds} s")
}

/// Must be looked after.
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
    std::thread::sleep(Duration::from_millis(20));
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

/// Begins a task, in the words of the client's dialect. Gives its id.
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

/// The members that hold for every task at every moment.
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
async fn a_task_is_made_looked_at_and_read_in_the_older_dialect() {
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
async fn a_task_is_made_and_looked_at_in_the_newer_dialect() {
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
async fn a_test_client_looks_after_tasks_by_itself() {
    let mut client = connect(V5).await;
    let called = client.call("slow", json!({ "seconds": 90 })).await.unwrap();
    assert_eq!(called.text(), "90 s");
    let error = client.call("broken", json!({})).await.unwrap_err();
    assert_eq!((error.code, error.message.as_str()), (77, "it broke"));
}

#[tokio::test(start_paused = true)]
async fn who_asks_for_no_task_gets_an_answer() {
    // The older dialect: no `task`. The newer one: no extension.
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
async fn a_handler_that_is_ready_at_once_is_no_task_in_the_newer_dialect() {
    let mut client = connect(V5).await;
    let answer = create(&mut client, "slow", json!({ "seconds": 0 })).await;
    // Sleeping for nothing still waits once, so both are right; what is wrong is a task that cannot be found.
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
async fn what_must_be_a_task_refuses_who_cannot_look_after_it() {
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
    // Where no tool has tasks, nobody knows the parameter.
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
        let tool = tools.iter().find(|it| it["name"] == name).unwrap();
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
    assert!(client.tools().await.unwrap().iter().all(|it| it.get("execution").is_none()));
    for method in ["tasks/result", "tasks/list"] {
        let error = client.request(method, json!({})).await.unwrap_err();
        assert_eq!(error.code, -32601, "{method}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_fails_has_failed_or_is_completed() {
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
async fn reports_are_the_status() {
    for revision in [V4, V5] {
        let mut client = connect(revision).await;
        let id = begin(&mut client, "reports", json!({})).await;
        pause(15).await;
        assert_eq!(get(&mut client, &id).await["statusMessage"], "step 2");
        pause(30).await;
        let seen = get(&mut client, &id).await;
        assert_eq!((&seen["status"], &seen["statusMessage"]), (&json!("completed"), &Value::Null));
    }
}

#[tokio::test(start_paused = true)]
async fn a_progress_token_lives_as_long_as_the_task_in_the_older_dialect() {
    let mut client = connect(V4).await;
    let params = json!({ "name": "reports", "task": {}, "_meta": { "progressToken": "p" } });
    let created = client.request("tools/call", params).await.unwrap();
    let id = &created["task"]["taskId"];
    let mut messages = Vec::new();
    while let Some(told) = client.notification(Duration::from_secs(12)).await {
        if told["method"] == "notifications/progress" {
            let related = &told["params"]["_meta"]["io.modelcontextprotocol/related-task"];
            assert_eq!(&related["taskId"], id);
            messages.push(told["params"]["progress"].as_f64().unwrap());
        }
    }
    assert_eq!(
        messages,
        [2.0, 3.0],
        "the first comes before there is a task, and is in its status"
    );

    let mut client = connect(V5).await;
    let params = json!({ "name": "reports", "_meta": { "progressToken": "p" } });
    client.request("tools/call", params).await.unwrap();
    assert_eq!(client.notification(Duration::from_secs(60)).await, None);
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
async fn nobody_is_told_of_a_task_that_is_not_there() {
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

#[tokio::test(start_paused = true)]
async fn a_task_waits_for_its_answers_in_the_newer_dialect() {
    let mut client = connect(V5).await;
    let id = begin(&mut client, "asks", json!({})).await;
    let seen = get(&mut client, &id).await;
    assert_eq!(seen["status"], "input_required");
    let asked = seen["inputRequests"].as_object().unwrap();
    assert_eq!(asked.keys().collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(asked["a"]["method"], "elicitation/create");
    assert_eq!(asked["a"]["params"]["message"], "A?");
    let update = async |client: &mut TestClient, answers: Value| {
        let params = json!({ "taskId": id, "inputResponses": answers });
        let answer = client.request("tasks/update", params).await.unwrap();
        assert_eq!(answer["resultType"], "complete");
        assert!(answer.get("status").is_none() && answer.get("taskId").is_none());
    };
    // One answer, one that is wrong, and one that nobody asked for.
    update(&mut client, json!({ "b": accept("Bo"), "a": { "action": 5 }, "z": accept("Z") })).await;
    let seen = get(&mut client, &id).await;
    assert_eq!(seen["inputRequests"].as_object().unwrap().keys().collect::<Vec<_>>(), ["a"]);
    update(&mut client, json!({ "a": accept("Al"), "b": accept("Other") })).await;
    pause(1).await;
    let seen = get(&mut client, &id).await;
    assert_eq!(seen["inputRequests"].as_object().unwrap().keys().collect::<Vec<_>>(), ["c"]);
    update(&mut client, json!({ "c": accept("Cy") })).await;
    pause(1).await;
    let seen = get(&mut client, &id).await;
    assert_eq!(seen["result"]["content"][0]["text"], "Al Bo Cy");
    let error = client.request("tasks/update", json!({ "taskId": id })).await.unwrap_err();
    assert_eq!(error.code, -32602);
}

#[tokio::test(start_paused = true)]
async fn a_task_asks_whoever_waits_for_it_in_the_older_dialect() {
    let mut client = connect(V4).await;
    let id = begin(&mut client, "asks", json!({})).await;
    assert_eq!(get(&mut client, &id).await["status"], "input_required");
    let task = id.clone();
    client.answer_with(move |method, params| {
        assert_eq!(method, "elicitation/create");
        let related = &params["_meta"]["io.modelcontextprotocol/related-task"]["taskId"];
        assert_eq!(related, &json!(task));
        accept(params["message"].as_str().unwrap().trim_end_matches('?'))
    });
    let result = client.request("tasks/result", json!({ "taskId": id })).await.unwrap();
    assert_eq!(result["content"][0]["text"], "A B C");
}

#[tokio::test(start_paused = true)]
async fn questions_are_put_again_to_who_waits_next() {
    let mut client = connect(V4).await;
    let id = begin(&mut client, "asks", json!({})).await;
    let waiting = client.start("tasks/result", json!({ "taskId": id }));
    let mut asked = Vec::new();
    while asked.len() < 2 {
        let told = client.notification(Duration::from_secs(1)).await.expect("a question");
        if told["method"] == "elicitation/create" {
            asked.push(told["id"].clone());
        }
    }
    client.cancel(waiting);
    let mut withdrawn = Vec::new();
    while let Some(told) = client.notification(Duration::from_secs(1)).await {
        if told["method"] == "notifications/cancelled" {
            withdrawn.push(told["params"]["requestId"].clone());
        }
    }
    assert_eq!(withdrawn, asked);
    client.answer_with(|_, _| accept("X"));
    let result = client.request("tasks/result", json!({ "taskId": id })).await.unwrap();
    assert_eq!(result["content"][0]["text"], "X X X");
}

#[tokio::test(start_paused = true)]
async fn a_client_of_one_dialect_reaches_what_was_begun_in_the_other() {
    // One connection can speak both: each request says by itself which era it is of.
    let mut client = connect(V4).await;
    let id = begin(&mut client, "asks", json!({})).await;
    let modern = |method: &str, mut params: Value| {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": V5.name(),
            "io.modelcontextprotocol/clientCapabilities":
                { "elicitation": {}, "extensions": { "io.modelcontextprotocol/tasks": {} } },
        });
        (method.to_owned(), params)
    };
    let (method, params) = modern("tasks/get", json!({ "taskId": id }));
    let seen = client.request(&method, params).await.unwrap();
    assert_eq!((seen["status"].as_str(), seen["ttlMs"].is_u64()), (Some("input_required"), true));
    for answers in [json!({ "a": accept("1"), "b": accept("2") }), json!({ "c": accept("3") })] {
        pause(1).await;
        let update = json!({ "taskId": id, "inputResponses": answers });
        let (method, params) = modern("tasks/update", update);
        client.request(&method, params).await.unwrap();
    }
    let result = client.request("tasks/result", json!({ "taskId": id })).await.unwrap();
    assert_eq!(result["content"][0]["text"], "1 2 3");
}

#[tokio::test(start_paused = true)]
async fn what_is_asked_before_the_task_is_asked_in_the_call() {
    let mut client = connect(V5).await;
    let params = json!({ "name": "first_asks" });
    let first = client.request("tools/call", params).await.unwrap();
    assert_eq!(first["resultType"], "input_required");
    assert!(first.get("taskId").is_none());
    let mut params = json!({ "name": "first_asks", "inputResponses": { "name": accept("Al") } });
    if let Some(state) = first.get("requestState") {
        params["requestState"] = state.clone();
    }
    let second = client.request("tools/call", params).await.unwrap();
    assert_eq!(second["resultType"], "task");
    check_shape(&second, V5);
    assert_eq!((&second["ttlMs"], &second["pollIntervalMs"]), (&json!(120_000), &json!(3000)));
    client.answer_with(|_, params| {
        assert_eq!(params["message"], "Last name?");
        accept("Low")
    });
    assert_eq!(client.finish_task(&second).await.unwrap().text(), "Al Low");
}

#[tokio::test(start_paused = true)]
async fn the_older_dialect_has_the_task_from_the_start() {
    let mut client = connect(V4).await;
    client.answer_with(|_, params| accept(if params["message"] == "Name?" { "Al" } else { "Low" }));
    let created = create(&mut client, "first_asks", json!({})).await;
    assert_eq!(client.finish_task(&created).await.unwrap().text(), "Al Low");
}

#[tokio::test(start_paused = true)]
async fn tasks_are_listed_for_whom_they_belong_to() {
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
        let limits = mcp_runtime::Limits::new().task_ttl(Duration::from_millis(400));
        let mut client = connect_to(everything().limits(limits), revision).await;
        let id = begin(&mut client, "slow", json!({ "seconds": 5 })).await;
        assert_eq!(get(&mut client, &id).await["status"], "working");
        pause(1).await;
        assert_eq!(get(&mut client, &id).await["status"], "cancelled");
        // The clock that it expires by is the machine's.
        std::thread::sleep(Duration::from_millis(500));
        let error = client.request("tasks/get", json!({ "taskId": id })).await.unwrap_err();
        assert_eq!(error.code, -32602);
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_can_have_its_task_kept_for_less() {
    let mut client = connect(V4).await;
    for (wanted, given) in [(5_000, 5_000), (0, 1_000), (99_000_000, 3_600_000)] {
        let task = json!({ "ttl": wanted });
        let params = json!({ "name": "slow", "arguments": { "seconds": 1 }, "task": task });
        let created = client.request("tools/call", params).await.unwrap();
        assert_eq!(created["task"]["ttl"], given);
    }
}

#[tokio::test(start_paused = true)]
async fn no_more_tasks_run_than_may() {
    for revision in [V4, V5] {
        let limits = mcp_runtime::Limits::new().tasks(2);
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
async fn a_full_store_forgets_what_has_finished_first() {
    let store = MemoryTasks::new().most(2);
    let mut client = connect_to(everything().task_store(store), V5).await;
    let first = begin(&mut client, "slow", json!({ "seconds": 1 })).await;
    let second = begin(&mut client, "slow", json!({ "seconds": 60 })).await;
    let params = json!({ "name": "slow", "arguments": { "seconds": 60 } });
    let error = client.request("tools/call", params).await.unwrap_err();
    assert!(error.message.contains("no room"), "{error}");
    pause(2).await;
    assert_eq!(get(&mut client, &first).await["status"], "completed");
    let third = begin(&mut client, "slow", json!({ "seconds": 60 })).await;
    assert!(client.request("tasks/get", json!({ "taskId": first })).await.is_err());
    for id in [second, third] {
        assert_eq!(get(&mut client, &id).await["status"], "working");
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_hears_of_its_own_tasks() {
    let mut client = connect(V4).await;
    let id = begin(&mut client, "slow", json!({ "seconds": 5 })).await;
    let told = client.notification(Duration::from_secs(30)).await.expect("it has ended");
    assert_eq!(told["method"], "notifications/tasks/status");
    check_shape(&told["params"], V4);
    let params = &told["params"];
    assert_eq!((&params["taskId"], &params["status"]), (&json!(id), &json!("completed")));
    assert_eq!(client.notification(Duration::from_secs(30)).await, None);
}

#[tokio::test(start_paused = true)]
async fn a_stream_hears_of_the_tasks_it_names() {
    let mut client = connect(V5).await;
    let id = begin(&mut client, "asks", json!({})).await;
    let other = begin(&mut client, "slow", json!({ "seconds": 1 })).await;
    client.listen(json!({ "taskIds": [id, "none"] })).await.unwrap();
    let params = json!({ "taskId": id, "inputResponses": { "a": accept("1"), "b": accept("2") } });
    client.request("tasks/update", params).await.unwrap();
    pause(2).await;
    let params = json!({ "taskId": id, "inputResponses": { "c": accept("3") } });
    client.request("tasks/update", params).await.unwrap();
    let mut seen = Vec::new();
    while let Some(told) = client.notification(Duration::from_secs(5)).await {
        if told["method"] == "notifications/subscriptions/acknowledged" {
            assert_eq!(told["params"]["notifications"], json!({ "taskIds": [id] }));
            continue;
        }
        assert_eq!(told["method"], "notifications/tasks");
        let params = &told["params"];
        assert_eq!(params["taskId"], id.as_str());
        assert_ne!(params["taskId"], other.as_str());
        assert!(!params["_meta"]["io.modelcontextprotocol/subscriptionId"].is_null());
        let asked = params["inputRequests"].as_object().map_or(0, serde_json::Map::len);
        seen.push(format!("{} {asked}", params["status"].as_str().unwrap()));
        if params["status"] == "completed" {
            assert_eq!(params["result"]["content"][0]["text"], "1 2 3");
        }
    }
    let expected = [
        "input_required 2",
        "input_required 1",
        "working 0",
        "input_required 1",
        "working 0",
        "completed 0",
    ];
    assert_eq!(seen, expected);
}

#[tokio::test(start_paused = true)]
async fn a_stream_of_tasks_needs_the_extension() {
    let mut client = TestClient::connect_with(everything(), V5).await.unwrap();
    let params = json!({ "notifications": { "taskIds": [] } });
    let error = client.request("subscriptions/listen", params).await.unwrap_err();
    assert_eq!(error.code, -32021);
}

#[tokio::test]
async fn threads_can_be_tasks() {
    for revision in [V4, V5] {
        let mut client = connect(revision).await;
        let created = create(&mut client, "threaded", json!({})).await;
        assert_eq!(client.finish_task(&created).await.unwrap().text(), "from a thread");
    }
}

/// Counts how often each was begun, across restarts.
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

#[tokio::test(start_paused = true)]
async fn a_store_outlasts_its_server() {
    let (store, begun) = (Arc::new(MemoryTasks::new()), Arc::new(Begun::default()));
    let server = || {
        let items = items![once, again, slow];
        server!().state(begun.clone()).state(Ends::default()).items(items).task_store(store.clone())
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
    assert!(seen["statusMessage"].as_str().unwrap().contains("server ended"), "{seen}");
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

/// Takes a second to keep anything.
struct Sluggish(MemoryTasks);

impl TaskStore for Sluggish {
    fn put(&self, task: KeptTask) -> Keeping<'_, ()> {
        Box::pin(async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            self.0.put(task).await
        })
    }

    fn get<'a>(&'a self, id: &'a str) -> Keeping<'a, Option<KeptTask>> {
        self.0.get(id)
    }

    fn list<'a>(
        &'a self,
        owner: &'a str,
        after: Option<(u64, &'a str)>,
        most: usize,
    ) -> Keeping<'a, Vec<KeptTask>> {
        self.0.list(owner, after, most)
    }

    fn unfinished(&self) -> Keeping<'_, Vec<KeptTask>> {
        self.0.unfinished()
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_cancelled_leaves_no_task_behind() {
    let (store, begun) = (Arc::new(Sluggish(MemoryTasks::new())), Arc::new(Begun::default()));
    let server = server!().state(begun.clone()).items(items![once]).task_store(store.clone());
    let mut client = connect_to(server, V4).await;
    let call = client.start("tools/call", json!({ "name": "once", "task": {} }));
    tokio::time::sleep(Duration::from_millis(500)).await;
    client.cancel(call);
    pause(5).await;
    assert_eq!(store.unfinished().await.unwrap(), []);
    let listed = client.request("tasks/list", json!({})).await.unwrap();
    assert_eq!(listed["tasks"][0]["status"], "cancelled");
}

#[tokio::test(start_paused = true)]
async fn a_task_is_kept_before_its_client_knows_it() {
    let server = everything().task_store(Sluggish(MemoryTasks::new()));
    let mut client = connect_to(server, V5).await;
    let before = tokio::time::Instant::now();
    let id = begin(&mut client, "slow", json!({ "seconds": 5 })).await;
    assert!(before.elapsed() >= Duration::from_secs(1));
    assert_eq!(get(&mut client, &id).await["status"], "working");
    pause(6).await;
    // Its end is known before it is kept.
    assert_eq!(get(&mut client, &id).await["status"], "completed");
    pause(2).await;
    assert_eq!(get(&mut client, &id).await["status"], "completed");
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_read_keeps_nobody_from_the_rest() {
    let (store, begun) = (Arc::new(MemoryTasks::new()), Arc::new(Begun::default()));
    let garbage = KeptTask {
        id: "garbage".to_owned(),
        owner: String::new(),
        created: 1,
        expires: None,
        finished: false,
        json: "{".to_owned(),
        end: String::new(),
    };
    store.put(garbage).await.unwrap();
    let server = || {
        let items = items![once];
        server!().state(begun.clone()).items(items).task_store(store.clone())
    };
    let mut client = connect_to(server(), V5).await;
    let lost = begin(&mut client, "once", json!({})).await;
    drop(client);
    let mut client = connect_to(server(), V5).await;
    assert_eq!(get(&mut client, &lost).await["status"], "failed");
    let error = client.request("tasks/get", json!({ "taskId": "garbage" })).await.unwrap_err();
    assert_eq!((error.code, error.message.as_str()), (-32603, "internal error"));
}

/// The same key for two things.
#[tool(task)]
async fn once_twice(ctx: &Context) -> Result<String> {
    for at in 0..2 {
        ctx.once("step", async || Ok::<_, Error>(at)).await?;
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    Ok("done".to_owned())
}

#[tokio::test(start_paused = true)]
async fn one_key_is_for_one_thing_in_a_task_too() {
    for revision in [V4, V5] {
        let mut client = connect_to(server!().items(items![once_twice]), revision).await;
        let created = create(&mut client, "once_twice", json!({})).await;
        let error = client.finish_task(&created).await.unwrap_err();
        assert_eq!(error.code, -32603, "{revision}: {error}");
    }
}
