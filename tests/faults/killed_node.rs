//! Death of a node while its calls and streams run, with server processes and a real Redis.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use serde_json::{Value, json};
use support::{clock::LIMIT, redis::RedisServer, requirement::needs};
use tokio::task::JoinSet;

use crate::{
    client::{Reply, Session, Stream, ask, message, modern, plain_call, run_within},
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

#[support::test]
fn calls_end_and_streams_go_on_at_other_nodes_when_a_node_is_killed() {
    let redis = needs(RedisServer::start(&[]));
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

/// Number of resources. One of the living nodes reports changes of those with even numbers, and the other of those with odd numbers.
const NOTES: usize = 40;

/// Number of listeners of each kind.
const LISTENERS: usize = 30;

/// Number of clients that call without a pause, half of them in a session.
const CALLERS: usize = 6;

fn uris() -> Vec<String> {
    (0..NOTES).map(|number| format!("notes://{number}")).collect()
}

/// Opens a stream at a living node for the updates of all notes, in a session that begins at another node.
async fn subscribe(begun_at: SocketAddr, address: SocketAddr) -> (Session, Stream) {
    let session = Session::begin(begun_at, REVISION).await;
    for uri in uris() {
        let subscribe = message(2, "resources/subscribe", json!({ "uri": uri }));
        assert_eq!(session.post(&subscribe).ask(address).await.status(), 200);
    }
    let updates = session.get().open(address).await.check_events();
    (session, updates)
}

/// Opens such a stream of protocol revision 2026-07-28, which needs no session.
async fn listen(address: SocketAddr) -> Stream {
    let filter = json!({ "notifications": { "resourceSubscriptions": uris() } });
    let listen = modern("listen", "subscriptions/listen", filter);
    let mut stream = listen.open(address).await.check_events();
    assert!(stream.message().await.is_some(), "an acknowledgement");
    stream
}

/// Reports a change of each second note, one after the other.
async fn mark(address: SocketAddr, first: usize) {
    for number in (first..NOTES).step_by(2) {
        let marked = plain_call(1, "mark", json!({ "n": number })).ask(address).await;
        assert_eq!(marked.status(), 200, "{marked:?}");
    }
}

/// Reads one update of each note. Those of a node are in order.
async fn hear_all(mut stream: Stream) -> Stream {
    let mut next = [0, 1];
    for _ in 0..NOTES {
        let update = stream.message().await.expect("an update");
        let uri = update["params"]["uri"].as_str().and_then(|uri| uri.strip_prefix("notes://"));
        let number: usize = uri.and_then(|uri| uri.parse().ok()).expect("a note");
        assert_eq!(number, next[number % 2], "{update}");
        next[number % 2] += 2;
    }
    stream
}

/// Reports changes of all notes from both nodes at once. Returns the streams after each has heard each change exactly once.
async fn round(nodes: [SocketAddr; 2], streams: Vec<Stream>, during: impl FnOnce()) -> Vec<Stream> {
    let hearing: Vec<_> =
        streams.into_iter().map(|stream| tokio::spawn(hear_all(stream))).collect();
    let marking =
        [(nodes[0], 0), (nodes[1], 1)].map(|(node, first)| tokio::spawn(mark(node, first)));
    during();
    for marking in marking {
        marking.await.expect("no panic");
    }
    let mut heard = Vec::new();
    for hearing in hearing {
        heard.push(hearing.await.expect("no panic"));
    }
    heard
}

/// Calls until the flag is set. Returns the number of calls.
async fn keep_calling(
    client: usize,
    session: Session,
    address: SocketAddr,
    is_over: Arc<AtomicBool>,
) -> u64 {
    let check = |reply: Reply, text: &str| {
        assert_eq!(reply.status(), 200, "{reply:?}");
        assert_eq!(reply.text(), text);
    };
    for number in 0.. {
        let text = format!("{client} {number}");
        let arguments = json!({ "text": text });
        let request = match client % 2 {
            0 => session.call(number, "echo", arguments),
            _ => plain_call(number, "echo", arguments),
        };
        check(request.ask(address).await, &text);
        if is_over.load(Ordering::SeqCst) {
            return number + 1;
        }
    }
    unreachable!("the numbers do not end")
}

#[support::test]
fn clients_of_the_other_nodes_notice_nothing_when_a_node_is_killed() {
    let redis = needs(RedisServer::start(&[]));
    run_within(4 * LIMIT, async {
        let [killed, two, three] = [(); 3].map(|()| Server::start_node(&redis.url()));
        let others = [two.address(), three.address()];
        let (mut sessions, mut streams) = (Vec::new(), Vec::new());
        for at in 0..LISTENERS {
            let (session, stream) = subscribe(killed.address(), others[at % 2]).await;
            sessions.push(session);
            streams.push(stream);
            streams.push(listen(others[at % 2]).await);
        }
        let is_over = Arc::new(AtomicBool::new(false));
        let mut calling = JoinSet::new();
        for client in 0..CALLERS {
            let session = Session::begin(killed.address(), REVISION).await;
            let address = others[client / 2 % 2];
            calling.spawn(keep_calling(client, session, address, is_over.clone()));
        }
        let session = Session::begin(killed.address(), REVISION).await;
        let (call, step) = begin_call(&session, killed.address()).await;
        let last = call.last.clone().expect("an event with an id");

        streams = round(others, streams, || ()).await;
        streams = round(others, streams, || drop(killed)).await;
        // The call ends when the lease of its node has ended.
        let ended = tokio::spawn(async move { check_end(&session, others[0], &last, step).await });
        let mut rounds = 2;
        while !ended.is_finished() {
            streams = round(others, streams, || ()).await;
            rounds += 1;
        }
        ended.await.expect("the call ends");
        streams = round(others, streams, || ()).await;
        is_over.store(true, Ordering::SeqCst);
        let calls: u64 = calling.join_all().await.into_iter().sum();
        support::note!(
            "{} updates reached {} streams, and {calls} calls succeeded",
            (rounds + 1) * NOTES,
            streams.len()
        );
        for session in sessions {
            assert_eq!(session.delete().ask(others[1]).await.status(), 204);
        }
        for (at, mut stream) in streams.into_iter().enumerate() {
            // Every second stream belongs to a session, and ends with it.
            if at % 2 == 0 {
                assert_eq!(stream.rest().await, [Value::Null; 0]);
            }
        }
    });
}

/// Number of tasks of each kind.
const TASKS: usize = 100;

#[support::test]
fn tasks_end_or_run_again_at_other_nodes_when_a_node_is_killed() {
    let redis = needs(RedisServer::start(&[]));
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
        support::note!("{TASKS} tasks have failed, and {runs:?} ran again, by process");
        assert!(runs.len() <= 2, "{runs:?}");
        assert_eq!(tasks::end(&three, &own).await["status"], "completed");
    });
}
