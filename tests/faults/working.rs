//! Tasks that run while their clients disconnect and come back, and while the process shuts down.

use std::{
    collections::BTreeSet,
    net::SocketAddr,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use serde_json::{Value, json};
use support::clock::{eventually, linger, pause};

use crate::{
    client::{
        Reply, Request, SOON, Session, Stream, ask, check_echo, initialize_as, message, modern,
        plain_call, read_by_every_reactor, run, text_of,
    },
    server::Server,
};

/// Grace period that is longer than any test may take. A server that ends with this setting did not wait for the grace period.
const ENDLESS: &str = "grace=600000";
/// Grace period of servers with `grace=700`.
const GRACE: Duration = Duration::from_millis(700);

const CORE: &str = "2025-11-25";

/// Client that uses tasks, either in a session or with protocol revision 2026-07-28.
#[derive(Clone, Debug)]
enum Client {
    Session(Session),
    Alone(SocketAddr),
}

impl Client {
    async fn both(server: &Server) -> [Self; 2] {
        [Self::Session(session(server).await), Self::Alone(server.address())]
    }

    fn address(&self) -> SocketAddr {
        match self {
            Self::Session(session) => session.address,
            Self::Alone(address) => *address,
        }
    }

    fn request(&self, method: &str, mut params: Value) -> Request {
        match self {
            Self::Session(session) => session.post(&message(next_id(), method, params)),
            Self::Alone(_) => {
                params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({
                    "elicitation": {},
                    "extensions": { "io.modelcontextprotocol/tasks": {} },
                });
                modern(next_id(), method, params)
            }
        }
    }

    /// Sends a request and returns the answer, from a JSON body or the end of a stream.
    async fn ask(&self, request: Request) -> Value {
        let mut stream = request.open(self.address()).await;
        if stream.head.is_stream() {
            return stream.rest().await.pop().expect("an answer");
        }
        let body = stream.connection.body(SOON).await.expect("a whole body");
        Reply { head: stream.head, body }.json()
    }

    fn call(&self, tool: &str, arguments: Value) -> Request {
        let mut params = json!({ "name": tool, "arguments": arguments });
        if let Self::Session(_) = self {
            params["task"] = json!({});
        }
        self.request("tools/call", params)
    }

    fn about(&self, method: &str, task: &str) -> Request {
        self.request(method, json!({ "taskId": task }))
    }

    async fn begin(&self, tool: &str, arguments: Value) -> String {
        begun(&self.ask(self.call(tool, arguments)).await)
    }

    async fn get(&self, task: &str) -> Value {
        self.ask(self.about("tasks/get", task)).await["result"].take()
    }

    /// Waits until the task has ended, and returns the text of its result.
    async fn result(&self, task: &str) -> String {
        match self {
            Self::Session(_) => text_of(&self.ask(self.about("tasks/result", task)).await),
            Self::Alone(_) => loop {
                let seen = self.get(task).await;
                if seen["status"] != "working" {
                    return text_of(&seen);
                }
                pause().await;
            },
        }
    }
}

/// Returns a new id, because requests of one session need different ids.
fn next_id() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed)
}

fn begun(answer: &Value) -> String {
    let result = &answer["result"];
    let task = if result["task"].is_object() { &result["task"] } else { result };
    let id = task["taskId"].as_str();
    id.unwrap_or_else(|| panic!("no task: {answer}")).to_owned()
}

async fn session(server: &Server) -> Session {
    session_as(server, json!({ "elicitation": {} })).await
}

/// Opens a session of a client with these capabilities.
async fn session_as(server: &Server, can: Value) -> Session {
    let address = server.address();
    let begun = initialize_as(CORE, can).ask(address).await;
    let id = begun.head.get("mcp-session-id").expect("a session");
    let session = Session { address, revision: CORE, id };
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert_eq!(session.post(&initialized).ask(address).await.status(), 202);
    session
}

fn held(key: &str) -> Value {
    json!({ "key": key, "text": key })
}

async fn let_go(server: &Server, key: &str) {
    plain_call(1, "let_go", json!({ "key": key })).ask(server.address()).await;
}

async fn fate(server: &Server, key: &str) -> String {
    ask(server.address(), "fate", json!({ "key": key })).await
}

async fn is_begun(server: &Server, key: &str) {
    plain_call(1, "begun", json!({ "key": key })).ask(server.address()).await;
}

/// Checks that the client has used up its share of the `limit` tasks. An eighth is kept for other clients.
#[track_caller]
fn check_full(answer: &Value, limit: usize) {
    let why = answer["error"]["message"].as_str().unwrap_or_default();
    assert!(why.contains(&format!("its share of the {limit} tasks")), "{answer}");
}

/// Checks that the message is an elicitation request, and returns the response with this word.
fn answered(question: &Value, word: &str) -> Value {
    assert_eq!(question["method"], "elicitation/create", "{question}");
    let result = json!({ "action": "accept", "content": { "word": word } });
    json!({ "jsonrpc": "2.0", "id": question["id"], "result": result })
}

// ---- the process ends

/// Clients may come back to another process, which reads the tasks from the store, so the shutdown does not wait for these tasks.
#[support::test]
fn tasks_without_a_waiting_client_do_not_delay_the_shutdown() {
    run(async {
        let server = Server::start(ENDLESS);
        for client in Client::both(&server).await {
            for (tool, arguments) in [
                ("hold_task", held("a")),
                ("word_task", json!({})),
                ("spin_task", json!({})),
                ("stubborn_task", json!({})),
            ] {
                client.begin(tool, arguments).await;
            }
        }
        server.terminate();
        let ended = server.wait();
        assert!(ended.status.success(), "{ended:?}");
        assert_eq!(ended.stderr.matches("on_shutdown has run").count(), 1, "{ended:?}");
    });
}

#[support::test]
fn a_result_within_the_grace_period_is_sent() {
    run(async {
        let server = Server::start(ENDLESS);
        let client = Client::Session(session(&server).await);
        let slow = json!({ "ms": 400, "text": "in time" });
        let task = client.begin("wait_task", slow).await;
        let mut waiting = client.about("tasks/result", &task).send(server.address()).await;
        read_by_every_reactor(server.address()).await;
        server.terminate();
        let head = waiting.head(false, SOON).await.expect("a response");
        let body = waiting.body(SOON).await.expect("a whole body");
        assert_eq!(Reply { head, body }.text(), "in time");
        let ended = server.wait();
        assert!(ended.status.success(), "{ended:?}");
        assert!(!ended.stderr.contains("dropped; connections"), "{ended:?}");
    });
}

#[support::test]
fn a_result_that_never_comes_is_given_up_after_the_grace() {
    run(async {
        let server = Server::start("grace=700");
        let client = Client::Session(session(&server).await);
        let mut waiting = Vec::new();
        for (tool, arguments) in [("hold_task", held("a")), ("stubborn_task", json!({}))] {
            let task = client.begin(tool, arguments).await;
            waiting.push(client.about("tasks/result", &task).send(server.address()).await);
        }
        read_by_every_reactor(server.address()).await;
        server.terminate();
        let ended = server.wait();
        assert!(ended.status.success(), "{ended:?}");
        assert!(ended.took >= GRACE, "{ended:?}");
        assert!(ended.stderr.contains("dropped; connections: 2,"), "{ended:?}");
        for connection in &mut waiting {
            assert!(connection.head(false, SOON).await.is_err());
        }
    });
}

// ---- clients vanish

/// Whether or not the task had begun when its client disconnected, the call leaves no data behind, and its slot becomes free again.
#[support::test]
fn a_client_that_leaves_during_a_call_takes_no_task_slot_for_good() {
    const LIMIT: usize = 45;
    const PLACES: usize = LIMIT - LIMIT / 8;
    run(async {
        let server = Server::start(&format!("tasks={LIMIT}"));
        for (dialect, client) in Client::both(&server).await.into_iter().enumerate() {
            let key = format!("gone {dialect}");
            for round in 0..PLACES {
                let connection = client.call("hold_task", held(&key)).send(server.address()).await;
                // Disconnects at once, or a little later.
                linger(Duration::from_micros(100 * (round as u64 % 8))).await;
                drop(connection);
            }
            check_echo(server.address()).await;
            let_go(&server, &key).await;
            let full = format!("full {dialect}");
            let mut tasks = Vec::new();
            for _ in 0..PLACES {
                let begun = eventually("room for a task", async || {
                    let reply = client.ask(client.call("hold_task", held(&full))).await;
                    (!reply["error"].is_object()).then(|| begun(&reply))
                });
                tasks.push(begun.await);
            }
            let refused = client.ask(client.call("hold_task", held(&full))).await;
            check_full(&refused, LIMIT);
            let_go(&server, &full).await;
            for task in tasks {
                assert_eq!(client.result(&task).await, full);
            }
        }
    });
}

/// A call of a session continues without its connection, and so does the task that it has become.
#[support::test]
fn a_task_outlasts_the_connection_that_asked_for_it() {
    run(async {
        let server = Server::start("");
        for (dialect, client) in Client::both(&server).await.into_iter().enumerate() {
            let key = format!("outlasts {dialect}");
            let task = client.begin("hold_task", held(&key)).await;
            is_begun(&server, &key).await;
            // Two clients that wait for the result disconnect. The first one may do so before the server has read its request, the second
            // one only afterwards.
            for is_read in [false, true] {
                let waiting = client.about("tasks/result", &task).send(server.address()).await;
                if is_read {
                    read_by_every_reactor(server.address()).await;
                }
                drop(waiting);
            }
            assert_eq!(client.get(&task).await["status"], "working");
            let_go(&server, &key).await;
            assert_eq!(client.result(&task).await, key);
            assert_eq!(fate(&server, &key).await, "finished");
        }
    });
}

async fn question(stream: &mut Stream) -> Value {
    stream.message().await.expect("a question")
}

/// If the connection of an elicitation request is lost, the server sends the request again to the next client that asks for the task: in
/// the same session, in another session, or with protocol revision 2026-07-28.
#[support::test]
fn a_question_survives_the_loss_of_its_connection() {
    run(async {
        let server = Server::start("");
        let [own, alone] = Client::both(&server).await;
        let other = Client::Session(session(&server).await);
        let address = server.address();
        let lost = async || {
            let task = own.begin("word_task", json!({})).await;
            let mut stream = own.about("tasks/result", &task).open(address).await.check_events();
            let asked = question(&mut stream).await;
            drop(stream);
            (task, asked)
        };

        // The client may send its response on any connection.
        let (task, asked) = lost().await;
        let Client::Session(session) = &own else { panic!("it is a session") };
        let accepted = session.post(&answered(&asked, "late")).ask(address).await;
        assert_eq!(accepted.status(), 202);
        assert_eq!(own.result(&task).await, "late");

        let (task, _) = lost().await;
        let answers = json!({ "word": { "action": "accept", "content": { "word": "new" } } });
        let params = json!({ "taskId": task, "inputResponses": answers });
        let updated = alone.ask(alone.request("tasks/update", params)).await;
        assert_eq!(updated["result"]["resultType"], "complete", "{updated}");
        assert_eq!(own.result(&task).await, "new");

        for next in [&own, &other] {
            let (task, first) = lost().await;
            let mut stream = next.about("tasks/result", &task).open(address).await.check_events();
            let asked = question(&mut stream).await;
            assert_ne!(asked["id"], first["id"], "a question of its own");
            let Client::Session(session) = next else { panic!("it is a session") };
            let accepted = session.post(&answered(&asked, "again")).ask(address).await;
            assert_eq!(accepted.status(), 202);
            let rest = stream.rest().await;
            assert_eq!(text_of(rest.last().expect("a result")), "again");
        }
    });
}

/// The elicitation request waits for a client that supports elicitation, like the client that began the task.
#[support::test]
fn a_client_without_elicitation_does_not_take_the_question_of_a_task() {
    run(async {
        let server = Server::start("");
        let (own, address) = (session(&server).await, server.address());
        let client = Client::Session(own.clone());
        let onlooker = Client::Session(session_as(&server, json!({})).await);
        let task = client.begin("word_task", json!({})).await;
        let watching = tokio::spawn({
            let task = task.clone();
            async move { onlooker.result(&task).await }
        });
        eventually("the task asks", async || {
            (client.get(&task).await["status"] == "input_required").then_some(())
        })
        .await;
        let mut stream = client.about("tasks/result", &task).open(address).await.check_events();
        let asked = question(&mut stream).await;
        let accepted = own.post(&answered(&asked, "mine")).ask(address).await;
        assert_eq!(accepted.status(), 202);
        assert_eq!(text_of(stream.rest().await.last().expect("a result")), "mine");
        assert_eq!(watching.await.expect("it goes on"), "mine");
    });
}

// ---- many

/// Runs the same function for all clients at the same time.
async fn together<T: Send + 'static, F: Future<Output = T> + Send + 'static>(
    clients: &[Client],
    mut what: impl FnMut(usize, Client) -> F,
) -> Vec<T> {
    let each = clients.iter().cloned().enumerate();
    let begun: Vec<_> = each.map(|(n, client)| tokio::spawn(what(n, client))).collect();
    let mut done = Vec::new();
    for task in begun {
        done.push(task.await.expect("the client goes on"));
    }
    done
}

/// Returns the `n`th text of a client.
fn text(client: usize, n: usize) -> String {
    format!("{client}: {n}")
}

#[support::test]
fn a_thousand_tasks_have_a_result_each() {
    const CLIENTS: usize = 10;
    const EACH: usize = 100;
    // All clients of this test share one address, so they count as one client. Its share is seven eighths of this limit: a thousand tasks.
    const LIMIT: usize = 1142;
    run(async {
        let server = Server::start(&format!("tasks={LIMIT}"));
        let mut clients = vec![Client::Alone(server.address()); CLIENTS / 2];
        while clients.len() < CLIENTS {
            clients.push(Client::Session(session(&server).await));
        }
        let tasks = together(&clients, |number, client| async move {
            let mut tasks = Vec::new();
            for n in 0..EACH {
                let arguments = json!({ "key": "all", "text": text(number, n) });
                tasks.push(client.begin("hold_task", arguments).await);
            }
            tasks
        })
        .await;
        let ids: BTreeSet<_> = tasks.iter().flatten().collect();
        assert_eq!(ids.len(), CLIENTS * EACH);
        // All tasks run, so the share of the client is used up.
        let refused = clients[0].ask(clients[0].call("hold_task", held("all"))).await;
        check_full(&refused, LIMIT);
        let_go(&server, "all").await;
        let mut tasks = tasks.into_iter();
        together(&clients, |number, client| {
            let own = tasks.next().expect("each client has its tasks");
            async move {
                for (n, task) in own.iter().enumerate() {
                    assert_eq!(client.result(task).await, text(number, n));
                }
            }
        })
        .await;
    });
}
