//! A task belongs to the principal that the application around the server names (rules TASK4-12 and TASK5-12).

use std::{collections::BTreeSet, net::SocketAddr};

use axum::middleware::from_fn;
use mcp_runtime::prelude::*;
use serde_json::{Value, json};

use crate::{
    client::{Request, Session, initialize_as, message, modern, run},
    mounted::Application,
    principals::{by, sign_in},
};

const CORE: &str = "2025-11-25";
const USERS: [Option<&str>; 4] = [Some("ada"), Some("grace"), Some("Ada"), None];

#[form]
struct Word {
    word: String,
}

/// Asks the owner of the task for a word.
#[tool(task, asks(elicitation))]
async fn confide_later(ctx: &Context) -> Result<String> {
    let who = ctx.principal().unwrap_or("nobody").to_owned();
    let word: Word = ctx.elicit("word", "Word?").await?;
    Ok(format!("{} says {who}", word.word))
}

/// User with tasks in a session, and with tasks of protocol revision 2026-07-28.
struct Owner {
    name: Option<&'static str>,
    address: SocketAddr,
    session: Session,
}

impl Owner {
    async fn new(name: Option<&'static str>, address: SocketAddr) -> Self {
        let begun = by(name, initialize_as(CORE, json!({ "elicitation": {} }))).ask(address).await;
        let id = begun.head.get("mcp-session-id").expect("a session");
        let session = Session { address, revision: CORE, id };
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(by(name, session.post(&initialized)).ask(address).await.status(), 202);
        Self { name, address, session }
    }

    fn alone(method: &str, mut params: Value) -> Request {
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({
            "elicitation": {},
            "extensions": { "io.modelcontextprotocol/tasks": {} },
        });
        modern(1, method, params)
    }

    /// Sends a request of protocol revision 2026-07-28 as this user.
    async fn ask(&self, method: &str, params: Value) -> Value {
        by(self.name, Self::alone(method, params)).ask(self.address).await.json()
    }

    /// Sends a request in the session of this user.
    async fn ask_in_session(&self, method: &str, params: Value) -> Value {
        let request = self.session.post(&message(1, method, params));
        by(self.name, request).ask(self.address).await.json()
    }

    /// Begins a task without a session and one in the session, and returns their ids.
    async fn begin(&self) -> [String; 2] {
        let call = json!({ "name": "confide_later" });
        let alone = self.ask("tools/call", call).await;
        let call = json!({ "name": "confide_later", "task": {} });
        let in_session = self.ask_in_session("tools/call", call).await;
        [&alone["result"], &in_session["result"]["task"]].map(|task| {
            let id = task["taskId"].as_str();
            id.unwrap_or_else(|| panic!("{alone} {in_session}")).to_owned()
        })
    }

    /// Checks that this user cannot reach the task: it belongs to another user, or does not exist.
    async fn check_refused(&self, task: &str) {
        let params = json!({ "taskId": task, "inputResponses": answer("stolen") });
        for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
            check_unknown(&self.ask(method, params.clone()).await);
        }
        for method in ["tasks/get", "tasks/result", "tasks/cancel"] {
            check_unknown(&self.ask_in_session(method, params.clone()).await);
        }
        // The server acknowledges no subscription to the task, so it will not notify this user about the task.
        assert_eq!(self.honoured(task).await, json!({}));
    }

    /// Subscribes to notifications about a task, and returns the subscriptions that the server acknowledges.
    async fn honoured(&self, task: &str) -> Value {
        let params = json!({ "notifications": { "taskIds": [task] } });
        let listen = by(self.name, Self::alone("subscriptions/listen", params));
        let mut stream = listen.open(self.address).await.check_events();
        let first = stream.message().await.expect("an acknowledgement");
        first["params"]["notifications"].clone()
    }

    async fn status(&self, task: &str) -> String {
        let seen = self.ask("tasks/get", json!({ "taskId": task })).await;
        seen["result"]["status"].as_str().unwrap_or_else(|| panic!("{seen}")).to_owned()
    }

    /// Returns the ids that `tasks/list` gives this user, or `None` if the server does not have this method.
    async fn listed(&self) -> Option<BTreeSet<String>> {
        let answer = self.ask_in_session("tasks/list", json!({})).await;
        if answer["error"].is_object() {
            assert_eq!(answer["error"]["code"], -32601, "{answer}");
            return None;
        }
        let tasks = answer["result"]["tasks"].as_array().expect("a list");
        Some(tasks.iter().map(|task| task["taskId"].as_str().expect("an id").to_owned()).collect())
    }
}

fn answer(word: &str) -> Value {
    json!({ "word": { "action": "accept", "content": { "word": word } } })
}

/// Checks for the error of an unknown id. The error is the same for the task of another user, so that it does not reveal whether the task
/// exists.
#[track_caller]
fn check_unknown(answer: &Value) {
    let error = json!({
        "code": -32602,
        "message": "there is no task of this id: it may have expired",
    });
    assert_eq!(answer["error"], error, "{answer}");
}

async fn owners(address: SocketAddr) -> Vec<Owner> {
    let mut owners = Vec::new();
    for name in USERS {
        owners.push(Owner::new(name, address).await);
    }
    owners
}

async fn application() -> Application {
    let server = mcp_runtime::server!(name = "owners").items(items![confide_later]);
    Application::start(server.into_router().await.unwrap().layer(from_fn(sign_in))).await
}

#[support::test]
fn a_task_is_its_owners_alone() {
    run(async {
        let app = application().await;
        let owners = owners(app.address).await;
        for own in &owners {
            let tasks = own.begin().await;
            for task in &tasks {
                for other in owners.iter().filter(|owner| owner.name != own.name) {
                    other.check_refused(task).await;
                }
                own.check_refused("none").await;
                assert_eq!(own.honoured(task).await, json!({ "taskIds": [task] }));
                assert_eq!(own.status(task).await, "input_required");
            }
            let [first, second] = &tasks;
            let name = own.name.unwrap_or("nobody");
            // Each task can also be reached with the methods of the other protocol revision.
            let given = json!({ "taskId": second, "inputResponses": answer("mine") });
            assert!(own.ask("tasks/update", given).await["error"].is_null());
            let ended = own.ask_in_session("tasks/result", json!({ "taskId": second })).await;
            assert_eq!(ended["result"]["content"][0]["text"], format!("mine says {name}"));
            let cancelled = own.ask_in_session("tasks/cancel", json!({ "taskId": first })).await;
            assert_eq!(cancelled["result"]["status"], "cancelled", "{cancelled}");
            for task in &tasks {
                for other in owners.iter().filter(|owner| owner.name != own.name) {
                    other.check_refused(task).await;
                }
            }
        }
        app.end().await;
    });
}

/// `tasks/list` returns only the tasks of the user who sends the request. A caller without a principal cannot list tasks at all.
#[support::test]
fn a_list_is_of_the_owners_tasks() {
    run(async {
        let app = application().await;
        let owners = owners(app.address).await;
        let mut begun = Vec::new();
        for own in &owners {
            begun.push(own.begin().await);
        }
        for (own, tasks) in owners.iter().zip(begun) {
            let expected = own.name.map(|_| BTreeSet::from(tasks));
            assert_eq!(own.listed().await, expected, "{:?}", own.name);
        }
        app.end().await;
    });
}

/// The server notifies a session only of the tasks in that session. It does not announce tasks of other users, or tasks of the same user
/// outside of the session.
#[support::test]
fn a_session_is_notified_only_of_its_own_tasks() {
    run(async {
        let app = application().await;
        let owners = owners(app.address).await;
        let mut streams = Vec::new();
        for own in &owners {
            let get = by(own.name, own.session.get());
            streams.push(get.open(app.address).await.check_events());
        }
        for (own, stream) in owners.iter().zip(&mut streams) {
            let [alone, in_session] = own.begin().await;
            for task in [&alone, &in_session] {
                own.ask("tasks/cancel", json!({ "taskId": task })).await;
            }
            let told = stream.message().await.expect("news");
            assert_eq!(told["method"], "notifications/tasks/status", "{told}");
            assert_eq!(told["params"]["taskId"], *in_session, "{told}");
        }
        // No other message has come before the end of the stream.
        for (own, stream) in owners.iter().zip(&mut streams) {
            assert_eq!(by(own.name, own.session.delete()).ask(app.address).await.status(), 204);
            assert!(stream.rest().await.is_empty(), "{:?}", own.name);
        }
        app.end().await;
    });
}
