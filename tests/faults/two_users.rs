//! Two users, each with a token, try to use what belongs to the other. The answers are the same as for things that do not exist, and
//! nothing changes. The modules `principals` and `owners` test users that an application names.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use mcp_runtime::{Builder, auth::StaticTokens, prelude::*};
use serde_json::{Value, json};
use support::clock::eventually;
use tokio::sync::Semaphore;

use crate::{
    client::{Reply, Request, Session, initialize, message, modern, plain_call, run},
    rates::serving,
};

const CORE: &str = "2025-11-25";

/// Semaphores of a user's calls. A call adds a permit to `begun`, and then waits for a permit of `go`.
struct Turns {
    begun: Semaphore,
    go: Semaphore,
}

/// Semaphores of ada and bob, and the users whose calls were dropped before they were done.
struct Both {
    turns: [Turns; 2],
    given_up: Mutex<Vec<String>>,
}

impl Both {
    fn new() -> Arc<Self> {
        let turns = || Turns { begun: Semaphore::new(0), go: Semaphore::new(0) };
        Arc::new(Self { turns: [turns(), turns()], given_up: Mutex::default() })
    }

    fn of(&self, user: &str) -> &Turns {
        &self.turns[usize::from(user == "bob")]
    }

    async fn begun(&self, user: &str) {
        self.of(user).begun.acquire().await.expect("nobody closes it").forget();
    }
}

/// Records the user of a call that is dropped before it is done.
struct Witness<'a> {
    both: &'a Both,
    user: &'a str,
    is_done: bool,
}

impl Drop for Witness<'_> {
    fn drop(&mut self) {
        if !self.is_done {
            self.both.given_up.lock().unwrap().push(self.user.to_owned());
        }
    }
}

/// Waits for a permit from the test, and returns the user.
#[tool]
async fn wait(ctx: &Context, both: &Arc<Both>, progress: Progress) -> String {
    let user = ctx.principal().expect("a token").to_owned();
    let mut witness = Witness { both, user: &user, is_done: false };
    progress.report(1);
    both.of(&user).begun.add_permits(1);
    both.of(&user).go.acquire().await.expect("nobody closes it").forget();
    witness.is_done = true;
    format!("{user}'s")
}

/// Becomes a task that never ends.
#[tool(task)]
async fn later() {
    std::future::pending().await
}

/// A board that clients can subscribe to.
#[resource("shared://board", subscribe)]
fn board() -> &'static str {
    "empty"
}

fn server(both: &Arc<Both>) -> Builder {
    let tokens = StaticTokens::new().token("token-of-ada", "ada").token("token-of-bob", "bob");
    mcp_runtime::server!(name = "two")
        .items(items![wait, later, board])
        .state(both.clone())
        .auth(tokens)
}

fn by(user: &str, request: Request) -> Request {
    request.header("Authorization", format!("Bearer token-of-{user}"))
}

async fn session(user: &str, address: SocketAddr) -> Session {
    let begun = by(user, initialize(CORE)).ask(address).await;
    let id = begun.head.get("mcp-session-id").expect("a session");
    let session = Session { address, revision: CORE, id };
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert_eq!(by(user, session.post(&initialized)).ask(address).await.status(), 202);
    session
}

fn cancelled(id: &Value) -> Value {
    let params = json!({ "requestId": id, "reason": "not yours" });
    json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params })
}

/// Returns the status and the body of an answer, without headers such as the date.
fn said(reply: &Reply) -> (u16, String) {
    (reply.status(), String::from_utf8_lossy(&reply.body).into_owned())
}

/// Returns one request of each kind for a session. `event` is the id of an event at which a stream of the session can be resumed.
fn everything(session: &Session, event: &str) -> Vec<Request> {
    vec![
        session.post(&message(9, "ping", json!({}))),
        session.post(&message(9, "tools/list", json!({}))),
        session.post(&message(9, "resources/subscribe", json!({ "uri": "shared://board" }))),
        session.post(&message(9, "resources/unsubscribe", json!({ "uri": "shared://board" }))),
        session.post(&cancelled(&json!(1))),
        session.post(&json!({ "jsonrpc": "2.0", "id": 1, "result": {} })),
        session.get(),
        session.resume(event),
        session.delete(),
    ]
}

#[support::test]
fn a_session_and_its_contents_are_reachable_only_by_its_user() {
    let both = Both::new();
    run(serving(server(&both), async |address| {
        let (ada, bob) = (session("ada", address).await, session("bob", address).await);
        // Session with an id that never existed. The test checks that bob gets the same answers for this session and for ada's session.
        let nowhere = Session { id: "0".repeat(ada.id.len()), ..ada };
        let (ada, nowhere) = (Session { id: ada.id.clone(), ..nowhere }, nowhere);
        let meta = json!({ "progressToken": 7 });
        let call = json!({ "name": "wait", "arguments": {}, "_meta": meta });
        let call = ada.post(&message(1, "tools/call", call));
        let mut running = by("ada", call).open(address).await.check_events();
        both.begun("ada").await;
        let event = running.event().await.and_then(|event| event.id).expect("an event with a name");

        let hers = everything(&ada, &event).into_iter();
        for (own, none) in hers.zip(everything(&nowhere, &event)) {
            let answer = by("bob", own.clone()).ask(address).await;
            assert_eq!(said(&answer), said(&by("bob", none).ask(address).await));
            assert_eq!(answer.status(), 404, "{answer:?}");
            // Without a token, the id of the session is not enough.
            assert_eq!(own.ask(address).await.status(), 401);
        }
        // In bob's own session, the same ids refer to his own calls and events.
        assert_eq!(by("bob", bob.post(&cancelled(&json!(1)))).ask(address).await.status(), 202);
        assert_eq!(by("bob", bob.resume(&event)).ask(address).await.status(), 400);

        both.of("ada").go.add_permits(1);
        let done = running.rest().await.pop().expect("a result");
        assert_eq!(done["result"]["content"][0]["text"], "ada's", "{done}");
        assert_eq!(*both.given_up.lock().unwrap(), [""; 0]);
        assert_eq!(by("ada", ada.delete()).ask(address).await.status(), 204);
    }));
}

#[support::test]
fn a_call_without_a_session_cannot_be_cancelled_by_another_user() {
    let both = Both::new();
    run(serving(server(&both), async |address| {
        let running = by("ada", plain_call("same", "wait", json!({})));
        let running = tokio::spawn(async move { running.ask(address).await.text() });
        both.begun("ada").await;
        let notification = cancelled(&json!("same"));
        let alone = Request::post(notification.to_string())
            .header("MCP-Protocol-Version", "2026-07-28")
            .header("Mcp-Method", "notifications/cancelled");
        by("bob", alone).ask(address).await;
        // If another client makes a call with the same id and disconnects, ada's call is not cancelled either.
        let other = by("bob", plain_call("same", "wait", json!({}))).send(address).await;
        both.begun("bob").await;
        drop(other);
        eventually("a call is given up", async || {
            (!both.given_up.lock().unwrap().is_empty()).then_some(())
        })
        .await;
        assert_eq!(*both.given_up.lock().unwrap(), ["bob"]);
        both.of("ada").go.add_permits(1);
        assert_eq!(running.await.unwrap(), "ada's");
    }));
}

#[support::test]
fn a_cursor_leads_into_its_readers_own_list() {
    let both = Both::new();
    run(serving(server(&both), async |address| {
        let mut ids = Vec::new();
        let (ada, bob) = (session("ada", address).await, session("bob", address).await);
        // 101 tasks are one more than fit on a page.
        for (user, session, count) in [("ada", &ada, 101), ("bob", &bob, 3)] {
            for _ in 0..count {
                let call = message(1, "tools/call", json!({ "name": "later", "task": {} }));
                let made = by(user, session.post(&call)).ask(address).await.json();
                let id = made["result"]["task"]["taskId"].as_str().expect("a task").to_owned();
                ids.push((user, id));
            }
        }
        let page = async |user: &str, session: &Session, params: Value| {
            let list = session.post(&message(2, "tasks/list", params));
            by(user, list).ask(address).await.json()["result"].take()
        };
        let first = page("ada", &ada, json!({})).await;
        assert_eq!(first["tasks"].as_array().map(Vec::len), Some(100), "{first}");
        let rest = page("bob", &bob, json!({ "cursor": first["nextCursor"] })).await;
        for task in rest["tasks"].as_array().into_iter().flatten() {
            let id = task["taskId"].as_str().expect("an id");
            let owner = ids.iter().find(|entry| entry.1 == id).map(|entry| entry.0);
            assert_eq!(owner, Some("bob"), "{rest}");
        }
        let rest = page("ada", &ada, json!({ "cursor": first["nextCursor"] })).await;
        assert_eq!(rest["tasks"].as_array().map(Vec::len), Some(1), "{rest}");

        // A request for another user's task gets the same answer as a request for a task that never existed.
        for (owner, id) in ids.iter().rev().take(5) {
            let other = if *owner == "ada" { "bob" } else { "ada" };
            for method in ["tasks/get", "tasks/cancel", "tasks/update"] {
                let ask = async |id: &str| {
                    let mut params = json!({ "taskId": id, "inputResponses": {} });
                    let can = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
                    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = can;
                    said(&by(other, modern(1, method, params)).ask(address).await)
                };
                let (hers, nobodys) = (ask(id).await, ask("0000").await);
                assert_eq!(hers, nobodys);
                assert!(hers.1.contains("there is no task of this id"), "{hers:?}");
            }
        }
    }));
}
