//! Streams, updates, calls and tasks that continue after Redis was stopped, or that end because Redis has lost its data.

use std::{
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
};

use serde_json::{Value, json};
use support::{clock::eventually, cluster::ServerCluster, requirement::needs};

use crate::{
    client::{Reply, Request, Session, Stream, message, modern, plain_call, run_within, text_of},
    outages::{DURABLE, MOST, REVISION, check_away, check_back},
    server::fixture,
};

/// File that ends a call and a task as soon as it exists. It is removed when the test ends.
struct Flag(PathBuf);

impl Flag {
    fn new() -> Self {
        static FLAGS: AtomicUsize = AtomicUsize::new(0);
        let number = FLAGS.fetch_add(1, Ordering::Relaxed);
        let name = format!("interrupted-{}-{number}", std::process::id());
        Self(Path::new(env!("CARGO_TARGET_TMPDIR")).join(name))
    }

    fn raise(&self) {
        fs::write(&self.0, "").expect("the folder is there");
    }
}

impl Drop for Flag {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Builds a request of a client with the tasks extension.
fn request(method: &str, mut params: Value) -> Request {
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
        json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    modern(1, method, params)
}

/// Reports a change of a note.
async fn mark(address: SocketAddr, number: usize) {
    let marked = plain_call(1, "mark", json!({ "n": number })).ask(address).await;
    assert_eq!(marked.status(), 200, "{marked:?}");
}

/// Things that a client has begun: a call at the first node, the stream of the session at the second, and a task at the first.
struct Begun {
    flag: Flag,
    session: Session,
    /// Id of the last event of the call, whose stream the client has lost.
    call: String,
    updates: Stream,
    task: String,
}

impl Begun {
    async fn at(cluster: &ServerCluster) -> Self {
        let [one, two] = [cluster.node(0), cluster.node(1)];
        let (flag, session) = (Flag::new(), Session::begin(one, REVISION).await);
        for number in 0..3 {
            let uri = format!("notes://{number}");
            let subscribe = message(1, "resources/subscribe", json!({ "uri": uri }));
            assert_eq!(session.post(&subscribe).ask(one).await.status(), 200);
        }
        let mut updates = session.get().open(two).await.check_events();
        mark(one, 0).await;
        let update = updates.message().await.expect("an update");
        assert_eq!(update["params"]["uri"], "notes://0");
        let arguments = json!({ "path": flag.0, "text": "the end of the call" });
        let call = session.call("call", "wait_for_file", arguments);
        let mut call = call.open(one).await.check_events();
        let first = call.event().await.and_then(|event| event.id).expect("an event with an id");
        let arguments = json!({ "path": flag.0 });
        let task = request("tools/call", json!({ "name": "await_file", "arguments": arguments }));
        let task = task.ask(one).await.json();
        let task = task["result"]["taskId"].as_str().unwrap_or_else(|| panic!("{task}")).to_owned();
        Self { flag, session, call: first, updates, task }
    }

    /// Returns the next message of the session's stream, which is resumed at a node if it has ended.
    async fn update(&mut self, address: SocketAddr) -> Value {
        loop {
            if let Some(message) = self.updates.message_until_break().await {
                return message;
            }
            let last = self.updates.last.clone().expect("an event with an id");
            let resumed = self.session.resume(&last).open(address).await.check_events();
            self.updates = Stream { last: Some(last), ..resumed };
        }
    }

    /// Reads updates up to that of a resource. After a restart of Redis, a node announces all subscribed resources, because it may have missed
    /// updates.
    async fn updated(&mut self, address: SocketAddr, uri: &str) {
        for _ in 0..20 {
            if self.update(address).await["params"]["uri"] == uri {
                return;
            }
        }
        panic!("no update of {uri}");
    }

    async fn task(&self, address: SocketAddr) -> Reply {
        request("tasks/get", json!({ "taskId": self.task })).ask(address).await
    }

    /// Checks that no update during or after the outage is lost, and that the call and the task end at other nodes.
    async fn check_goes_on(mut self, cluster: &ServerCluster) {
        let [one, two, three] = [0, 1, 2].map(|node| cluster.node(node));
        // The first node reported this change while Redis did not answer.
        self.updated(three, "notes://1").await;
        mark(two, 2).await;
        self.updated(three, "notes://2").await;
        let working = self.task(two).await.json();
        assert_eq!(working["result"]["status"], "working", "{working}");
        self.flag.raise();
        let mut call = self.session.resume(&self.call).open(two).await.check_events();
        let end = call.message().await.expect("the answer");
        assert_eq!((&end["id"], &*text_of(&end)), (&json!("call"), "the end of the call"));
        let done = eventually("the end of the task", async || {
            let task = self.task(three).await.json();
            (task["result"]["status"] == "completed").then_some(task)
        })
        .await;
        let text = &done["result"]["result"]["content"][0]["text"];
        assert_eq!(*text, cluster.pid(0).to_string(), "{done}");
        assert_eq!(self.session.delete().ask(one).await.status(), 204);
        while let Some(rest) = self.updates.message_until_break().await {
            assert_eq!(rest["method"], "notifications/resources/updated", "{rest}");
        }
    }

    /// Checks that the session is gone at every node, that a new session gets nothing of the old one, and that the task goes on.
    async fn check_gone(mut self, cluster: &ServerCluster) {
        let nodes = [0, 1, 2].map(|node| cluster.node(node));
        let new = Session::begin(nodes[1], REVISION).await;
        let subscribe = message(1, "resources/subscribe", json!({ "uri": "notes://2" }));
        assert_eq!(new.post(&subscribe).ask(nodes[0]).await.status(), 200);
        let mut updates = new.get().open(nodes[1]).await.check_events();
        let old = &self.session;
        for is_running in [true, false] {
            for node in nodes {
                // The node that runs the task stores it again when it notices the loss.
                let status = if is_running { "working" } else { "completed" };
                eventually("the task at each node", async || {
                    let task = self.task(node).await.json();
                    (task["result"]["status"] == status).then_some(())
                })
                .await;
                assert_eq!(old.resume(&self.call).ask(node).await.status(), 404);
                assert_eq!(old.get().ask(node).await.status(), 404);
                assert_eq!(new.resume(&self.call).ask(node).await.status(), 400);
            }
            self.flag.raise();
        }
        mark(nodes[0], 2).await;
        let update = updates.message().await.expect("an update");
        assert_eq!(update["params"]["uri"], "notes://2", "{update}");
        // The old client has a stream at the second node, and no subscription any more.
        assert_eq!(self.updates.message_until_break().await, None);
        assert_eq!(new.delete().ask(nodes[2]).await.status(), 204);
        assert_eq!(updates.rest().await, [Value::Null; 0]);
    }
}

#[support::test]
fn streams_calls_and_tasks_go_on_after_redis_was_stopped_and_has_its_data_again() {
    let mut cluster = needs(ServerCluster::start_for_outage(fixture(), DURABLE));
    run_within(MOST, async {
        let begun = Begun::at(&cluster).await;
        cluster.redis.stop();
        check_away(&cluster, &begun.session).await;
        mark(cluster.node(0), 1).await;
        begun.task(cluster.node(2)).await.check_busy("the store of the server");
        cluster.redis.restart();
        check_back(&cluster, &begun.session, 200).await;
        begun.check_goes_on(&cluster).await;
    });
}

#[support::test]
fn streams_and_calls_are_gone_after_redis_has_lost_its_data_and_tasks_go_on() {
    let mut cluster = needs(ServerCluster::start_for_outage(fixture(), &[]));
    run_within(MOST, async {
        let begun = Begun::at(&cluster).await;
        cluster.redis.stop();
        check_away(&cluster, &begun.session).await;
        cluster.redis.restart();
        check_back(&cluster, &begun.session, 404).await;
        begun.check_gone(&cluster).await;
    });
}
