//! Answers to all operations while Redis is full, accepts no writes, does not answer, or is gone.

use std::net::SocketAddr;

use serde_json::{Value, json};
use support::{clock::eventually, cluster::ServerCluster, requirement::needs};

use crate::{
    client::{Request, Session, initialize, message, modern, run_within},
    outages::{DURABLE, MOST, REVISION},
    server::fixture,
};

/// States of Redis, in the order of the columns of [`TABLE`].
const STATES: [&str; 4] = ["full", "read-only", "silent", "gone"];

/// Status of each operation in each state. A 503 has `Retry-After`. A node relies on its copy of a session for a second, and then reads and
/// touches the record. Redis accepts a touch while it is full, but not while it is a replica.
const TABLE: &[(&str, [u16; 4])] = &[
    ("initialize", [503, 503, 503, 503]),
    ("ping", [200, 503, 503, 503]),
    ("tools/list", [200, 503, 503, 503]),
    ("a call", [200, 503, 503, 503]),
    ("a call with a rate", [503, 503, 503, 503]),
    ("a call that becomes a task", [503, 503, 503, 503]),
    ("resources/read", [200, 503, 503, 503]),
    ("resources/subscribe", [503, 503, 503, 503]),
    ("logging/setLevel", [503, 503, 503, 503]),
    ("tasks/get", [200, 503, 503, 503]),
    ("tasks/result", [200, 503, 503, 503]),
    ("tasks/cancel", [503, 503, 503, 503]),
    ("a notification", [503, 503, 503, 503]),
    ("a stream", [503, 503, 503, 503]),
    ("the end of a session", [204, 503, 503, 503]),
    ("a call without a session", [200, 200, 200, 200]),
    ("a call without a session that becomes a task", [503, 503, 503, 503]),
    ("a call without a session that asks", [200, 200, 200, 200]),
    ("tasks/get without a session", [200, 200, 503, 503]),
    ("tasks/cancel without a session", [503, 503, 503, 503]),
];

/// Clients of one node, with a finished and a running task each.
struct Clients {
    session: Session,
    /// Session that the client ends.
    leaving: Session,
    tasks: [String; 2],
    tasks_without_session: [String; 2],
}

fn capable(mut params: Value) -> Value {
    let capabilities =
        json!({ "elicitation": {}, "extensions": { "io.modelcontextprotocol/tasks": {} } });
    params["_meta"] = json!({ "io.modelcontextprotocol/clientCapabilities": capabilities });
    params
}

fn task(ms: u64) -> Value {
    json!({ "name": "wait_task", "arguments": { "ms": ms, "text": "done" }, "task": {} })
}

fn without_session(method: &str, params: Value) -> Request {
    modern(9, method, capable(params)).replace("Accept", "application/json")
}

impl Clients {
    async fn begin(node: SocketAddr) -> Self {
        let session = Session::begin(node, REVISION).await;
        let leaving = Session::begin(node, REVISION).await;
        let start = async |ms| {
            let reply = session.post(&message(1, "tools/call", task(ms))).ask(node).await.json();
            let id = reply["result"]["task"]["taskId"].as_str();
            id.unwrap_or_else(|| panic!("{reply}")).to_owned()
        };
        let start_without = async |ms| {
            let reply = without_session("tools/call", task(ms)).ask(node).await.json();
            let id = reply["result"]["taskId"].as_str();
            id.unwrap_or_else(|| panic!("{reply}")).to_owned()
        };
        let hour = 3_600_000;
        let tasks = [start(50).await, start(hour).await];
        let tasks_without_session = [start_without(50).await, start_without(hour).await];
        let clients = Self { session, leaving, tasks, tasks_without_session };
        eventually("the end of the short tasks", async || {
            let mut ended = 0;
            for name in ["tasks/get", "tasks/get without a session"] {
                let reply = clients.request(name).ask(node).await.json();
                ended += usize::from(reply["result"]["status"] == "completed");
            }
            (ended == 2).then_some(())
        })
        .await;
        clients
    }

    fn request(&self, operation: &str) -> Request {
        let own = |method, params| self.session.post(&message(9, method, params));
        let [done, running] = self.tasks.each_ref().map(|id| json!({ "taskId": id }));
        let others = self.tasks_without_session.each_ref().map(|id| json!({ "taskId": id }));
        let [other_done, other_running] = others;
        let call = |name: &str, arguments: Value| json!({ "name": name, "arguments": arguments });
        match operation {
            "initialize" => initialize(REVISION),
            "ping" | "tools/list" => own(operation, json!({})),
            "a call" => own("tools/call", call("echo", json!({ "text": "a" }))),
            "a call with a rate" => own("tools/call", call("once", json!({}))),
            "a call that becomes a task" => own("tools/call", task(1)),
            "resources/read" | "resources/subscribe" => {
                own(operation, json!({ "uri": "notes://1" }))
            }
            "logging/setLevel" => own(operation, json!({ "level": "debug" })),
            "tasks/get" | "tasks/result" => own(operation, done),
            "tasks/cancel" => own(operation, running),
            "a notification" => {
                let method = "notifications/roots/list_changed";
                self.session.post(&json!({ "jsonrpc": "2.0", "method": method }))
            }
            "a stream" => self.session.get(),
            "the end of a session" => self.leaving.delete(),
            "a call without a session" => {
                without_session("tools/call", call("echo", json!({ "text": "a" })))
            }
            "a call without a session that becomes a task" => {
                without_session("tools/call", task(200))
            }
            "a call without a session that asks" => {
                without_session("tools/call", call("journey", json!({ "greeting": "hi" })))
            }
            "tasks/get without a session" => without_session("tasks/get", other_done),
            "tasks/cancel without a session" => without_session("tasks/cancel", other_running),
            other => panic!("no operation is called `{other}`"),
        }
    }
}

#[support::test]
fn operations_that_need_a_redis_that_refuses_are_answered_with_503() {
    let mut cluster = needs(ServerCluster::start_for_outage(fixture(), DURABLE));
    let node = cluster.node(0);
    let ready = async |expected: u16| {
        eventually("the readiness", async || {
            (Request::new("GET", "/readyz").ask(node).await.status() == expected).then_some(())
        })
        .await;
    };
    run_within(MOST, async {
        for (column, state) in STATES.into_iter().enumerate() {
            let clients = Clients::begin(node).await;
            match state {
                "full" => drop(cluster.redis.cli(&["CONFIG", "SET", "maxmemory", "100kb"])),
                "read-only" => drop(cluster.redis.cli(&["REPLICAOF", "127.0.0.1", "1"])),
                "silent" => cluster.redis.pause(),
                _ => cluster.redis.stop(),
            }
            // A node that is not ready has learned about the state, and its copy of the session is too old by then.
            ready(503).await;
            for (operation, expected) in TABLE {
                let reply = clients.request(operation).ask(node).await;
                let shown = format!("{operation} while Redis is {state}: {reply:?}");
                assert_eq!(reply.status(), expected[column], "{shown}");
                let is_refused = reply.status() == 503;
                assert_eq!(reply.head.get("retry-after").is_some(), is_refused, "{shown}");
                let is_error = reply.body.starts_with(b"{") && !reply.json()["error"].is_null();
                assert_eq!(is_error, is_refused, "{shown}");
            }
            match state {
                "full" => drop(cluster.redis.cli(&["CONFIG", "SET", "maxmemory", "0"])),
                "read-only" => drop(cluster.redis.cli(&["REPLICAOF", "NO", "ONE"])),
                "silent" => cluster.redis.resume(),
                _ => cluster.redis.restart(),
            }
            ready(200).await;
            // Every refused operation can be repeated.
            for (operation, before) in TABLE.iter().filter(|row| row.0 != "a stream") {
                let reply = clients.request(operation).ask(node).await;
                let expected = match *operation {
                    "a notification" => 202,
                    "the end of a session" if before[column] == 204 => 404,
                    "the end of a session" => 204,
                    _ => 200,
                };
                assert_eq!(reply.status(), expected, "{operation} after {state}: {reply:?}");
            }
        }
    });
}

/// The store has the subscription already when the client repeats its request, at the same node or at another.
#[support::test]
fn a_subscription_that_is_repeated_after_a_503_reaches_the_stream_at_another_node() {
    let cluster = needs(ServerCluster::start_for_outage(fixture(), &[]));
    run_within(MOST, async {
        for repeated_at in [0, 2] {
            let session = Session::begin(cluster.node(0), REVISION).await;
            let mut stream = session.get().open(cluster.node(1)).await;
            let uri = json!({ "uri": "notes://1" });
            let subscribe = session.post(&message(9, "resources/subscribe", uri));
            for (full, node, expected) in [("100kb", 0, 503), ("0", repeated_at, 200)] {
                cluster.redis.cli(&["CONFIG", "SET", "maxmemory", full]);
                eventually("the answer", async || {
                    (subscribe.ask(cluster.node(node)).await.status() == expected).then_some(())
                })
                .await;
            }
            let mark = session.call(10, "mark", json!({ "n": 1 }));
            assert_eq!(mark.ask(cluster.node(2)).await.status(), 200);
            let update = stream.message().await.expect("an update");
            assert_eq!(update["method"], "notifications/resources/updated");
        }
    });
}
