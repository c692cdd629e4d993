//! Blocking handlers and their limit, and panics: a panic ends its own call with an error, and has no effect on other calls.

use std::{
    sync::{Arc, Condvar, Mutex},
    thread::ThreadId,
    time::Duration,
};

use mcp_runtime::{
    Builder, items,
    middleware::{Next, Operation, OperationCall},
    prelude::*,
    server,
};
use serde_json::json;

use crate::support::{both_eras, connect, eventually, pass, refused, said};

/// A gate at which threads wait. They wait for at most ten seconds, so that a failing test ends too.
#[derive(Clone, Default)]
struct Gate(Arc<(Mutex<bool>, Condvar)>);

impl Gate {
    fn open(&self) {
        *self.0.0.lock().unwrap() = true;
        self.0.1.notify_all();
    }

    fn pass(&self) {
        let open = self.0.0.lock().unwrap();
        drop(self.0.1.wait_timeout_while(open, Duration::from_secs(10), |open| !*open).unwrap());
    }
}

#[tool(blocking)]
fn thread(name: &str, ctx: &Context, of_reactor: &ThreadId) -> String {
    format!("{name} {} {}", ctx.client().name, std::thread::current().id() == *of_reactor)
}

#[tool(blocking)]
fn held(gate: &Gate) -> &'static str {
    gate.pass();
    "through"
}

#[prompt(blocking)]
fn blocking_prompt(gate: &Gate) -> &'static str {
    gate.pass();
    "through"
}

#[resource("blocking://{id}", blocking)]
fn blocking_resource(id: u8) -> String {
    id.to_string()
}

#[tool]
fn quick() -> &'static str {
    "quick"
}

fn served(gate: &Gate) -> Builder {
    let items = items![thread, held, blocking_prompt, blocking_resource, quick];
    server!().items(items).state(gate.clone()).state(std::thread::current().id())
}

both_eras! {
    async fn blocking_handlers_run_beside_the_reactor(revision) {
        let gate = Gate::default();
        let mut client = connect(served(&gate), revision).await;
        assert_eq!(said(&mut client, "thread", json!({ "name": "n" })).await, "n mcp-runtime-testing false");
        let held = client.start("tools/call", json!({ "name": "held" }));
        let prompt = client.start("prompts/get", json!({ "name": "blocking_prompt" }));
        assert_eq!(said(&mut client, "quick", json!({})).await, "quick");
        assert_eq!(client.in_flight(), 2);
        gate.open();
        assert_eq!(client.wait(held).await.unwrap()["content"][0]["text"], "through");
        assert_eq!(client.wait(prompt).await.unwrap()["messages"][0]["content"]["text"], "through");
        assert_eq!(client.read("blocking://7").await.unwrap()[0].text.as_deref(), Some("7"));
    }

    async fn beyond_the_limit_a_call_is_refused_at_once(revision) {
        let gate = Gate::default();
        let mut client = connect(served(&gate).max_blocking(2), revision).await;
        let first = client.start("tools/call", json!({ "name": "held" }));
        let second = client.start("tools/call", json!({ "name": "held" }));
        let busy = "the server is busy: 2 blocking calls are running; try again later";
        assert_eq!(said(&mut client, "held", json!({})).await, format!("error: {busy}"));
        assert_eq!(refused(&mut client, "prompts/get", json!({ "name": "blocking_prompt" })).await, (-32603, busy.into()));
        // A call that was cancelled keeps its slot until its thread ends.
        client.cancel(first);
        assert_eq!(said(&mut client, "held", json!({})).await, format!("error: {busy}"));
        gate.open();
        assert_eq!(client.wait(second).await.unwrap()["content"][0]["text"], "through");
        eventually("the place is given back", async || {
            said(&mut client, "held", json!({})).await == "through"
        })
        .await;
    }
}

#[tool]
fn panics() -> u8 {
    panic!("hunter2")
}

#[tool]
async fn panics_at_once() -> u8 {
    panic!("hunter2")
}

#[tool]
async fn panics_later() -> u8 {
    tokio::task::yield_now().await;
    panic!("hunter2")
}

#[tool(blocking)]
fn panics_elsewhere() -> u8 {
    panic!("hunter2")
}

#[prompt]
async fn panicking_prompt() -> String {
    panic!("hunter2")
}

#[resource("panics://")]
fn panicking_resource() -> String {
    panic!("hunter2")
}

#[completion]
fn panicking_completion(typed: &str) -> Vec<String> {
    panic!("hunter2 {typed}")
}

#[completion]
async fn panicking_completion_later() -> Vec<String> {
    tokio::task::yield_now().await;
    panic!("hunter2")
}

#[prompt]
fn completed(
    #[complete(panicking_completion)] now: &str,
    #[complete(panicking_completion_later)] later: &str,
) -> String {
    format!("{now}{later}")
}

/// A parameter type whose `FromCall` panics.
struct Explosive;

impl FromCall<'_> for Explosive {
    fn from_call(_: &Context) -> Result<Self> {
        panic!("hunter2")
    }
}

#[tool]
fn panics_before(_explosive: Explosive) {}

both_eras! {
    async fn a_panic_answers_that_one_call(revision) {
        let items = items![
            panics, panics_at_once, panics_later, panics_elsewhere, panics_before, panicking_prompt, panicking_resource,
            completed, quick, held
        ];
        let gate = Gate::default();
        let mut client = connect(server!().items(items).state(gate.clone()), revision).await;
        let held = client.start("tools/call", json!({ "name": "held" }));
        for tool in ["panics", "panics_at_once", "panics_later", "panics_elsewhere", "panics_before"] {
            assert_eq!(said(&mut client, tool, json!({})).await, format!("error: the tool `{tool}` panicked"));
            assert_eq!(said(&mut client, "quick", json!({})).await, "quick");
        }
        let hidden = (-32603, "internal error".to_owned());
        assert_eq!(refused(&mut client, "prompts/get", json!({ "name": "panicking_prompt" })).await, hidden);
        assert_eq!(refused(&mut client, "resources/read", json!({ "uri": "panics://" })).await, hidden);
        for argument in ["now", "later"] {
            let error = client.complete("completed", argument, "x").await.unwrap_err();
            assert_eq!((error.code, error.message), hidden);
        }
        gate.open();
        assert_eq!(client.wait(held).await.unwrap()["content"][0]["text"], "through");
        assert_eq!(client.in_flight(), 0);
    }
}

/// A value that panics when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("hunter2")
    }
}

#[tool]
fn throws_bomb() {
    std::panic::panic_any(Bomb)
}

#[tool]
async fn throws_bomb_at_once() {
    std::panic::panic_any(Bomb)
}

#[tool]
async fn throws_bomb_later() {
    tokio::task::yield_now().await;
    std::panic::panic_any(Bomb)
}

#[tool(blocking)]
fn throws_bomb_elsewhere() {
    std::panic::panic_any(Bomb)
}

#[tool(timeout = "10ms")]
async fn holds_bomb() {
    let _bomb = Bomb;
    std::future::pending::<()>().await;
}

/// Drops a bomb on its thread after the call has timed out.
#[tool(blocking, timeout = "10ms")]
fn holds_bomb_elsewhere(gate: &Gate) {
    let _bomb = Bomb;
    gate.pass();
}

both_eras! {
    async fn a_panic_in_a_drop_answers_that_one_call(revision) {
        let items = items![
            throws_bomb, throws_bomb_at_once, throws_bomb_later, throws_bomb_elsewhere, holds_bomb, holds_bomb_elsewhere, quick
        ];
        let gate = Gate::default();
        let mut client = connect(server!().items(items).state(gate.clone()), revision).await;
        for tool in ["throws_bomb", "throws_bomb_at_once", "throws_bomb_later", "throws_bomb_elsewhere"] {
            assert_eq!(said(&mut client, tool, json!({})).await, format!("error: the tool `{tool}` panicked"));
            assert_eq!(said(&mut client, "quick", json!({})).await, "quick");
        }
        for tool in ["holds_bomb", "holds_bomb_elsewhere"] {
            let expected = format!("error: the tool `{tool}` took longer than 10ms and was given up");
            assert_eq!(said(&mut client, tool, json!({})).await, expected);
            assert_eq!(said(&mut client, "quick", json!({})).await, "quick");
        }
        gate.open();
        // The client cancels this call, so the bomb drops without a response.
        let held = client.start("tools/call", json!({ "name": "holds_bomb" }));
        client.cancel(held);
        assert_eq!(said(&mut client, "quick", json!({})).await, "quick");
        assert_eq!(client.in_flight(), 0);
    }

    async fn a_panic_in_a_drop_around_calls_answers_that_one_call(revision) {
        let around = async |call: OperationCall, next: Next| {
            let is_bomb = matches!(call.operation(), Operation::CallTool(name) if name == "quick");
            if is_bomb {
                std::panic::panic_any(Bomb);
            }
            next.run(call).await
        };
        let mut client = connect(server!().items(items![quick, throws_bomb]).around(around), revision).await;
        let error = client.call("quick", json!({})).await.unwrap_err();
        assert_eq!((error.code, &*error.message), (-32603, "internal error"));
        assert_eq!(said(&mut client, "throws_bomb", json!({})).await, "error: the tool `throws_bomb` panicked");
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_whose_drop_panics_ends() {
    #[tool(task, timeout = "10s")]
    async fn holds_bomb_as_task() {
        let _bomb = Bomb;
        std::future::pending::<()>().await;
    }
    let can = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    let server = server!().items(items![holds_bomb_as_task, quick]);
    let revision = mcp_runtime::testing::Revision::V2026_07_28;
    let mut client =
        mcp_runtime::testing::TestClient::connect_capable(server, revision, can).await.unwrap();
    for cancels in [false, true] {
        let created = client
            .request("tools/call", json!({ "name": "holds_bomb_as_task" }))
            .await
            .expect("the call becomes a task");
        let which = json!({ "taskId": created["taskId"] });
        if cancels {
            client.request("tasks/cancel", which.clone()).await.expect("the task is there");
        }
        pass(Duration::from_secs(11)).await;
        let task = client.request("tasks/get", which).await.expect("the task is there");
        let expected = if cancels { "cancelled" } else { "completed" };
        assert_eq!(task["status"], expected, "{task}");
        assert_eq!(said(&mut client, "quick", json!({})).await, "quick");
    }
}
