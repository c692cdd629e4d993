//! Tasks that are stored in a file, and that survive the end of a process.

use std::{
    fs,
    net::SocketAddr,
    path::PathBuf,
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use mcp_runtime::{prelude::*, store::MemoryStore};
use serde_json::{Value, json};
use support::{clock::eventually, http::connection::Connection};

use crate::{
    authorization::Served,
    client::{Reply, Request, SOON, Session, message, modern, run},
    server::{Server, fixture},
};

/// Folder of one test, which is removed when the test ends.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static FOLDERS: AtomicUsize = AtomicUsize::new(0);
        let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
        let name = format!("tasks-{}-{number}", std::process::id());
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }

    fn tasks(&self) -> PathBuf {
        self.0.join("tasks.db")
    }

    /// Returns the arguments for a tool that waits for this file.
    pub(crate) fn flag(&self, name: &str) -> Value {
        json!({ "path": self.0.join(name) })
    }

    pub(crate) fn raise(&self, name: &str) {
        fs::write(self.0.join(name), "").expect("the folder is there");
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Builds a request of a client with the tasks extension.
fn request(method: &str, mut params: Value) -> Request {
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
        json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    modern(1, method, params)
}

fn beginning(tool: &str, arguments: Value) -> Request {
    request("tools/call", json!({ "name": tool, "arguments": arguments }))
}

fn id_of(reply: &Reply) -> String {
    let result = &reply.json()["result"];
    assert_eq!(result["resultType"], "task", "{result:#}");
    result["taskId"].as_str().expect("a task").to_owned()
}

pub(crate) async fn begin(server: &Server, tool: &str, arguments: Value) -> String {
    id_of(&beginning(tool, arguments).ask(server.address()).await)
}

async fn get(server: &Server, id: &str) -> Value {
    let reply = request("tasks/get", json!({ "taskId": id })).ask(server.address()).await;
    reply.json()["result"].clone()
}

/// Polls the task until its status is no longer `working`.
pub(crate) async fn end(server: &Server, id: &str) -> Value {
    eventually("the task has ended", async || {
        let task = get(server, id).await;
        (task["status"] != "working").then_some(task)
    })
    .await
}

pub(crate) fn text(task: &Value) -> &str {
    task["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{task:#}"))
}

/// Waits for ever.
#[tool(task)]
async fn waits(progress: Progress) {
    progress.say(1, "waiting");
    std::future::pending::<()>().await;
}

#[support::test]
fn a_stream_follows_the_task_of_another_server() {
    run(async {
        let store = Arc::new(MemoryStore::new().shared());
        let server = || mcp_runtime::server!().items(items![waits]).store(store.clone());
        let (one, two) = (Served::start(server()).await, Served::start(server()).await);
        let id = id_of(&beginning("waits", json!({})).ask(one.address).await);
        let filter = json!({ "notifications": { "taskIds": [id, "unknown"] } });
        let listen = request("subscriptions/listen", filter);
        let mut stream = listen.open(two.address).await.check_events();
        let first = stream.message().await.expect("an acknowledgement");
        assert_eq!(first["params"]["notifications"], json!({ "taskIds": [id] }));
        let told = stream.message().await.expect("the state of the task");
        assert_eq!(
            (&told["params"]["status"], &told["params"]["statusMessage"]),
            (&json!("working"), &json!("waiting"))
        );
        request("tasks/cancel", json!({ "taskId": id })).ask(two.address).await;
        let told = stream.message().await.expect("the end of the task");
        assert_eq!(told["params"]["status"], "cancelled");
        drop(stream);
        one.end().await;
        two.end().await;
    });
}

#[support::test]
fn tasks_survive_the_end_of_their_process() {
    run(async {
        let folder = Folder::new();
        let first = Server::start_keeping(&folder.tasks());
        let one = first.process().to_string();
        let finished = begin(&first, "await_file", folder.flag("early")).await;
        folder.raise("early");
        assert_eq!(text(&end(&first, &finished).await), one);
        let lost = begin(&first, "await_file", folder.flag("late")).await;
        let again = begin(&first, "await_file_again", folder.flag("late")).await;
        first.kill();

        let second = Server::start_keeping(&folder.tasks());
        let two = second.process().to_string();
        assert_eq!(text(&get(&second, &finished).await), one);
        let task = get(&second, &lost).await;
        assert_eq!((&task["status"], &task["error"]["code"]), (&json!("failed"), &json!(-32603)));
        let why = task["statusMessage"].as_str().expect("a reason");
        assert!(why.contains("server stopped"), "{task:#}");
        assert_eq!(get(&second, &again).await["status"], "working");
        folder.raise("late");
        assert_eq!(text(&end(&second, &again).await), two);
        second.kill();

        // No task is left to run, and clients of protocol revision 2025-11-25 get the same results.
        let third = Server::start_keeping(&folder.tasks());
        let session = Session::begin(third.address(), "2025-11-25").await;
        let ask = async |method: &str, params: Value| {
            session.post(&message(1, method, params)).ask(third.address()).await.json()
        };
        for (id, status) in [(&finished, "completed"), (&lost, "failed"), (&again, "completed")] {
            let task = ask("tasks/get", json!({ "taskId": id })).await;
            assert_eq!(task["result"]["status"], status, "{task:#}");
        }
        let result = ask("tasks/result", json!({ "taskId": again })).await;
        assert_eq!(result["result"]["content"][0]["text"], two);
    });
}

/// Begins tasks until the server no longer answers, and returns their ids.
async fn keep_on(address: SocketAddr, arguments: Value, answered: Arc<AtomicUsize>) -> Vec<String> {
    let request = beginning("await_file", arguments).bytes();
    let ask = async || {
        let mut connection = Connection::open(address).await?;
        connection.send(&request, SOON).await?;
        let head = connection.head(false, SOON).await?;
        let body = connection.body(SOON).await?;
        Ok::<_, String>(Reply { head, body })
    };
    let mut begun = Vec::new();
    while let Ok(reply) = ask().await {
        begun.push(id_of(&reply));
        answered.fetch_add(1, Ordering::SeqCst);
    }
    begun
}

/// The process may be killed at any moment, even in the middle of a write.
#[support::test]
fn an_acknowledged_task_survives_a_kill_at_any_moment() {
    run(async {
        let folder = Folder::new();
        let mut begun = Vec::new();
        for count in [1, 20, 75] {
            let server = Server::start_keeping(&folder.tasks());
            let answered = Arc::new(AtomicUsize::new(0));
            let clients: Vec<_> = (0..4)
                .map(|_| keep_on(server.address(), folder.flag("never"), answered.clone()))
                .map(tokio::spawn)
                .collect();
            eventually("tasks are begun", async || {
                (answered.load(Ordering::SeqCst) >= count).then_some(())
            })
            .await;
            server.kill();
            for client in clients {
                begun.extend(client.await.expect("the client goes on"));
            }
        }
        let server = Server::start_keeping(&folder.tasks());
        for id in &begun {
            assert_eq!(get(&server, id).await["status"], "failed", "one of {}", begun.len());
        }
    });
}

#[support::test]
fn a_second_server_does_not_start_on_the_same_file() {
    run(async {
        let folder = Folder::new();
        let server = Server::start_keeping(&folder.tasks());
        let id = begin(&server, "await_file", folder.flag("done")).await;
        let mut second = Command::new(fixture());
        second.args(["--http", "127.0.0.1:0"]).env("FIXTURE_TASKS", folder.tasks());
        let output = second.stdin(Stdio::null()).output().expect("the fixture starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("tasks.db") && said.contains("a file of its own"), "{said}");
        // The first server still works.
        folder.raise("done");
        assert_eq!(text(&end(&server, &id).await), server.process().to_string());
    });
}
