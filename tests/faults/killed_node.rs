//! Death of a node while its calls and streams run, with server processes and a real Redis.

use std::{collections::BTreeMap, net::SocketAddr};

use serde_json::{Value, json};
use support::{clock::LIMIT, redis::RedisServer};
use tokio::task::JoinSet;

use crate::{
    client::{Session, Stream, ask, message, run_within},
    server::Server,
    tasks::{self, Folder},
};

/// Number of calls, and of streams that wait for updates.
const COUNT: usize = 200;

const REVISION: &str = "2025-11-25";

/// Starts a call that reports a step ten times a second, and reads its first steps. Returns the id of the last event.
async fn begin_call(session: &Session, address: SocketAddr) -> (Stream, f64) {
    let call = session.call(1, "ticks", json!({ "n": 100_000, "ms": 100 }));
    let mut stream = call.open(address).await.check_events();
    let mut last = 0.0;
    while last < 2.0 {
        last = step_of(&stream.message().await.unwrap());
    }
    (stream, last)
}

fn step_of(message: &Value) -> f64 {
    message["params"]["progress"].as_f64().unwrap_or_else(|| panic!("a step, not {message}"))
}

/// Reads a resumed call to its end: the next step, and each step that follows, and the error that ends the call.
async fn check_end(session: &Session, address: SocketAddr, last: &str, mut step: f64) {
    let mut stream = session.resume(last).open(address).await.check_events();
    let end = loop {
        let message = stream.message().await.expect("the answer to the call");
        if message["id"] == 1 {
            break message;
        }
        // Reports are merged when the machine is slow, but none comes twice or too early.
        let next = step_of(&message);
        assert!(next > step, "{next} after {step}");
        step = next;
    };
    let text = end["error"]["message"].as_str().unwrap_or_default();
    assert!(text.contains("has ended"), "{end}");
    assert!(stream.message().await.is_none());
}

#[test]
fn calls_end_and_streams_go_on_at_other_nodes_when_a_node_is_killed() {
    let redis = match RedisServer::start(&[]) {
        Ok(redis) => redis,
        Err(missing) => return missing.skip(),
    };
    run_within(4 * LIMIT, async {
        let [killed, two, three] = [(); 3].map(|()| Server::start_node(&redis.url()));
        let others = [two.address(), three.address()];
        let mut begun = JoinSet::new();
        for at in 0..COUNT {
            let address = killed.address();
            begun.spawn(async move {
                let session = Session::begin(address, REVISION).await;
                let uri = format!("notes://{at}");
                let subscribe = message(2, "resources/subscribe", json!({ "uri": uri }));
                assert_eq!(session.post(&subscribe).ask(address).await.status(), 200);
                let updates = session.get().open(address).await.check_events();
                let (call, step) = begin_call(&session, address).await;
                (session, updates, call, step)
            });
        }
        let begun = begun.join_all().await;
        drop(killed);
        let mut ended = JoinSet::new();
        for (at, (session, mut updates, mut call, mut step)) in begun.into_iter().enumerate() {
            let address = others[at % 2];
            ended.spawn(async move {
                // Messages that were on their way when the node was killed still arrive.
                while let Some(message) = call.message_until_break().await {
                    step = step_of(&message);
                }
                let last = call.last.clone().expect("an event with an id");
                check_end(&session, address, &last, step).await;
                while updates.message_until_break().await.is_some() {}
                let updates = session.get().open(address).await.check_events();
                (session, updates)
            });
        }
        let sessions = ended.join_all().await;
        let touched = ask(others[0], "touch", json!({ "uris": COUNT, "times": 1 })).await;
        assert_eq!(touched, format!("{COUNT} touched 1 times"));
        for (session, mut updates) in sessions {
            let update = updates.message().await.expect("an update");
            assert_eq!(update["method"], "notifications/resources/updated", "{update}");
            assert_eq!(
                session.call(3, "echo", json!({ "text": "on" })).ask(others[1]).await.text(),
                "on"
            );
        }
    });
}

/// Number of tasks of each kind.
const TASKS: usize = 100;

#[test]
fn tasks_end_or_run_again_at_other_nodes_when_a_node_is_killed() {
    let redis = match RedisServer::start(&[]) {
        Ok(redis) => redis,
        Err(missing) => return missing.skip(),
    };
    run_within(4 * LIMIT, async {
        let [killed, two, three] = [(); 3].map(|()| Server::start_node(&redis.url()));
        let folder = Folder::new();
        let (mut once, mut again) = (Vec::new(), Vec::new());
        for _ in 0..TASKS {
            once.push(tasks::begin(&killed, "await_file", folder.flag("go")).await);
            again.push(tasks::begin(&killed, "await_file_again", folder.flag("go")).await);
        }
        let own = tasks::begin(&two, "await_file", folder.flag("go")).await;
        drop(killed);
        for id in &once {
            let ended = tasks::end(&three, id).await;
            assert_eq!(ended["status"], "failed", "{ended:#}");
        }
        // The tasks that run again wait for the file, as do those of the other nodes.
        folder.raise("go");
        let mut runs = BTreeMap::new();
        for id in &again {
            let ended = tasks::end(&two, id).await;
            assert_eq!(ended["status"], "completed", "{ended:#}");
            *runs.entry(tasks::text(&ended).to_owned()).or_insert(0) += 1;
        }
        eprintln!("{TASKS} tasks have failed, and {runs:?} ran again, by process");
        assert!(runs.len() <= 2, "{runs:?}");
        assert_eq!(tasks::end(&three, &own).await["status"], "completed");
    });
}
