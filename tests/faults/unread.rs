//! Clients that do not read their answers and streams.

use serde_json::{Value, json};

use crate::{
    client::{
        Request, SOON, Session, Stream, ask, call, check_echo, message, modern, plain_call, run,
        text_of, tool_call,
    },
    pair::Pair,
    server::{MIB, Memory, Server},
};

/// Maximum memory in bytes that the server may use for a client that does not read. The buffers of one connection, in hyper and in the
/// outbox, are far smaller than this, and the tests send far more.
const COST: usize = 8 * MIB;

#[track_caller]
fn check_bounded(what: &str, server: &Server, before: Memory, bound: usize) {
    let grown = server.memory().above(before);
    support::note!("{what}: {} KiB", grown >> 10);
    assert!(grown < bound, "{what}: {} MiB", grown >> 20);
}

fn uris(count: usize) -> Vec<String> {
    (0..count).map(|n| format!("notes://{n}")).collect()
}

/// Publishes `times` updates of each of 100 resources.
async fn touch(server: &Server, times: usize) {
    let said = ask(server.address(), "touch", json!({ "uris": 100, "times": times })).await;
    assert_eq!(said, format!("100 touched {times} times"));
}

async fn warm() -> (Server, Memory) {
    let server = Server::start("");
    check_echo(server.address()).await;
    ask(server.address(), "big", json!({ "bytes": MIB })).await;
    let before = server.memory();
    (server, before)
}

/// Publishes one more update of each resource, and reads until all of these updates have arrived. Returns the number of messages that it
/// has read.
async fn check_hears_again(server: &Server, mut stream: Stream) -> usize {
    touch(server, 1).await;
    let mut missing: std::collections::BTreeSet<_> = uris(100).into_iter().collect();
    let mut heard = 0;
    while !missing.is_empty() {
        let message = stream.message().await.expect("an update");
        missing.remove(message["params"]["uri"].as_str().unwrap_or_default());
        heard += 1;
    }
    heard
}

#[support::test]
fn a_listen_stream_that_is_not_read_keeps_each_update_once() {
    run(async {
        let (server, before) = warm().await;
        let filter = json!({ "notifications": { "resourceSubscriptions": uris(100) } });
        let request = modern("unread", "subscriptions/listen", filter);
        let stream = request.open(server.address()).await.check_events();
        for _ in 0..5 {
            touch(&server, 500).await;
            check_echo(server.address()).await;
        }
        check_bounded("listen, 250,000 updates", &server, before, COST);
        let heard = check_hears_again(&server, stream).await;
        assert!(heard < 200_000, "all of {heard} have been kept");
    });
}

#[support::test]
fn the_stream_of_a_session_that_is_not_read_keeps_each_update_once() {
    run(async {
        let (server, before) = warm().await;
        let session = Session::begin(server.address(), "2025-11-25").await;
        for uri in uris(100) {
            let subscribe = message(1, "resources/subscribe", json!({ "uri": uri }));
            session.post(&subscribe).ask(server.address()).await;
        }
        // Publishes updates before the session has an open stream.
        touch(&server, 500).await;
        let stream = session.get().open(server.address()).await.check_events();
        for _ in 0..4 {
            touch(&server, 500).await;
            check_echo(server.address()).await;
        }
        check_bounded("GET, 250,000 updates", &server, before, COST);
        let heard = check_hears_again(&server, stream).await;
        assert!(heard < 200_000, "all of {heard} have been kept");
    });
}

/// Calls `torrent`, and reads its answer only after a while.
async fn check_merged(n: u32, server: &Server, request: Request) {
    let mut stream = request.open(server.address()).await.check_events();
    for _ in 0..10 {
        check_echo(server.address()).await;
    }
    let messages = stream.rest().await;
    let (last, reports) = messages.split_last().unwrap();
    assert_eq!(text_of(last), format!("{n} reports"));
    let steps: Vec<_> =
        reports.iter().filter_map(|report| report["params"]["progress"].as_u64()).collect();
    assert!(steps.is_sorted_by(|a, b| a < b), "a report has come late, or twice");
    assert_eq!(steps.last(), Some(&n.into()));
}

const REPORTS: u32 = 100_000;

fn torrent() -> Value {
    json!({ "n": REPORTS, "bytes": 300 })
}

#[support::test]
fn reports_of_a_call_that_are_not_read_are_merged() {
    run(async {
        let (server, before) = warm().await;
        check_merged(REPORTS, &server, call(1, "torrent", torrent())).await;
        check_bounded("a modern call, 100,000 reports", &server, before, COST);
    });
}

#[support::test]
fn reports_of_a_session_that_are_not_read_are_merged() {
    run(async {
        let (server, before) = warm().await;
        let session = Session::begin(server.address(), "2025-11-25").await;
        check_merged(REPORTS, &server, session.call(1, "torrent", torrent())).await;
        check_bounded("a call in a session, 100,000 reports", &server, before, COST);
    });
}

/// If a handler never waits, the server still sends its reports while the handler works. The handler ends when its client disconnects.
#[support::test]
fn the_reports_of_a_handler_that_never_waits_are_sent() {
    run(async {
        let (server, before) = warm().await;
        let endless = json!({ "n": u32::MAX, "bytes": 300 });
        let mut stream = call(1, "torrent", endless).open(server.address()).await.check_events();
        for _ in 0..3 {
            assert_eq!(stream.message().await.unwrap()["method"], "notifications/progress");
        }
        check_echo(server.address()).await;
        check_bounded("reports without end", &server, before, COST);
    });
}

/// The server buffers each unread answer completely.
#[support::test]
fn large_unread_answers_use_bounded_memory() {
    const BYTES: usize = 8 * MIB;
    run(async {
        let (server, before) = warm().await;
        let mut connections = Vec::new();
        for id in 0..8 {
            let request = plain_call(id, "big", json!({ "bytes": BYTES }));
            let mut connection = request.send(server.address()).await;
            assert_eq!(connection.head(false, SOON).await.unwrap().status, 200);
            connections.push(connection);
        }
        check_echo(server.address()).await;
        // The bound is three times the total size of the answers. The server usually uses half of that: the handlers' texts have been
        // freed, but the allocator keeps some of their memory.
        check_bounded("8 answers of 8 MiB", &server, before, 3 * 8 * BYTES);
        for mut connection in connections {
            assert!(connection.body(SOON).await.unwrap().len() > BYTES);
        }
    });
}

/// The server answers the requests of a connection in order. It does not handle a request before it has sent the answer to the previous
/// one.
#[support::test]
fn requests_wait_behind_an_unread_answer() {
    const BYTES: usize = MIB;
    run(async {
        let (server, before) = warm().await;
        let mut bytes = Vec::new();
        for id in 0..200 {
            bytes.extend(plain_call(id, "big", json!({ "bytes": BYTES })).bytes());
        }
        let mut connection = crate::client::send(server.address(), &bytes).await;
        for _ in 0..20 {
            check_echo(server.address()).await;
        }
        check_bounded("200 answers of 1 MiB in a row", &server, before, 16 * MIB);
        for id in 0..200 {
            assert_eq!(connection.head(false, SOON).await.unwrap().status, 200);
            let body = connection.body(SOON).await.unwrap();
            assert!(body.starts_with(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},").as_bytes()));
        }
        check_bounded("… and read", &server, before, 16 * MIB);
    });
}

#[support::test]
fn a_legacy_sse_stream_that_is_not_read_keeps_each_update_once() {
    run(async {
        let (server, before) = warm().await;
        let mut pair = Pair::begin(server.address()).await;
        for uri in uris(100) {
            pair.post(&message(uri.clone(), "resources/subscribe", json!({ "uri": uri }))).await;
            assert_eq!(pair.stream.message().await.unwrap()["id"], uri);
        }
        for _ in 0..5 {
            touch(&server, 500).await;
            check_echo(server.address()).await;
        }
        check_bounded("HTTP+SSE, 250,000 updates", &server, before, COST);
        check_hears_again(&server, pair.stream).await;
    });
}

/// Unlike updates, answers cannot be merged. The server therefore rejects further calls from a client that does not read them.
#[support::test]
fn unread_answers_on_a_legacy_sse_stream_are_bounded() {
    const COUNT: usize = 1000;
    run(async {
        let (server, before) = warm().await;
        let mut pair = Pair::begin(server.address()).await;
        let mut taken = 0;
        for id in 0..COUNT {
            let status = pair.try_post(&tool_call(id, "big", json!({ "bytes": MIB / 16 }))).await;
            assert!(matches!(status, 202 | 503), "{status}");
            taken += usize::from(status == 202);
        }
        check_echo(server.address()).await;
        check_bounded("HTTP+SSE, 1,000 answers of 64 KiB", &server, before, 16 * MIB);
        assert!((1..COUNT / 2).contains(&taken), "{taken}");
        // The answers to all accepted calls arrive, and a client that reads on may call again.
        for _ in 0..taken {
            assert!(pair.stream.message().await.unwrap()["result"].is_object());
        }
        pair.post(&tool_call("again", "echo", json!({ "text": "read" }))).await;
        assert_eq!(text_of(&pair.stream.message().await.unwrap()), "read");
    });
}

/// A stream whose client has disconnected keeps all messages of its call, so the server limits the number of such streams.
#[support::test]
fn answers_of_a_session_whose_client_has_left_are_bounded() {
    run(async {
        let server = Server::start("keep_alive=50");
        ask(server.address(), "big", json!({ "bytes": MIB })).await;
        let before = server.memory();
        let session = Session::begin(server.address(), "2025-11-25").await;
        for id in 0..300 {
            let request = session.call(id, "late", json!({ "bytes": MIB, "ms": 1 }));
            let mut stream = request.open(server.address()).await.check_events();
            stream.message().await.unwrap();
        }
        check_echo(server.address()).await;
        // The bound allows for 64 streams, each with the messages that could not be sent.
        check_bounded("300 answers of 1 MiB in 64 streams", &server, before, 160 * MIB);
    });
}
