//! Graceful shutdown: open connections, calls and streams after a signal.

use std::time::Duration;

use serde_json::json;
use support::{
    clock::{Stopwatch, eventually},
    http::{connection::Connection, head::Head},
};

use crate::{
    client::{
        MODERN, Reply, Request, SOON, Session, Stream, call, check_echo, message, modern,
        plain_call, read_by_every_reactor, run, send, text_of,
    },
    server::{Ended, Server},
    tasks::Folder,
};

/// Grace period that is longer than any test may take. A server that ends with this setting did not wait for the grace period.
const ENDLESS: &str = "grace=600000";
/// Grace period of servers with `grace=700`.
const GRACE: Duration = Duration::from_millis(700);

async fn started(limits: &str) -> Server {
    let server = Server::start(limits);
    check_echo(server.address()).await;
    server
}

#[track_caller]
fn check_soon(what: &str, ended: &Ended) {
    support::note!("{what}: ended after {:?}", ended.took);
    assert!(ended.status.success(), "{what}: {ended:?}");
    assert_eq!(ended.stderr.matches("on_shutdown has run").count(), 1, "{ended:?}");
    assert!(!ended.stderr.contains("dropped; connections"), "{ended:?}");
}

/// Waits until the server accepts no further connection.
async fn closed_to_others(server: &Server) {
    eventually("the server lets no connection in", async || {
        Connection::open(server.address()).await.err()
    })
    .await;
}

async fn check_closed(connection: &mut Connection) {
    let error = connection.head(false, SOON).await.unwrap_err();
    assert_eq!(error, "closed without a response: \"\"");
}

async fn reply(connection: &mut Connection) -> Reply {
    let head: Head = connection.head(false, SOON).await.unwrap();
    let body = connection.body(SOON).await.unwrap();
    Reply { head, body }
}

#[support::test]
fn idle_connections_are_closed_at_shutdown() {
    run(async {
        let server = started(ENDLESS).await;
        let mut used = call(1, "echo", json!({ "text": "x" })).send(server.address()).await;
        assert_eq!(reply(&mut used).await.text(), "x");
        assert!(used.is_free());
        let mut unused = send(server.address(), b"").await;
        let _session = Session::begin(server.address(), "2025-11-25").await;
        read_by_every_reactor(server.address()).await;
        server.terminate();
        check_closed(&mut used).await;
        check_closed(&mut unused).await;
        check_soon("idle", &server.wait());
    });
}

#[support::test]
fn calls_that_run_are_finished_and_answered() {
    run(async {
        let server = started(ENDLESS).await;
        let session = Session::begin(server.address(), "2025-11-25").await;
        let folder = Folder::new();
        let mut until = folder.flag("go");
        until["text"] = json!("in time");
        let mut calls = [
            plain_call(1, "wait_for_file", until.clone()).send(server.address()).await,
            session.call(1, "wait_for_file", until).send(server.address()).await,
        ];
        let ticks = json!({ "n": 20, "ms": 20 });
        let mut streams = [
            call(1, "ticks", ticks.clone()).open(server.address()).await.check_events(),
            session.call(2, "ticks", ticks).open(server.address()).await.check_events(),
        ];
        read_by_every_reactor(server.address()).await;
        server.terminate();
        closed_to_others(&server).await;
        folder.raise("go");
        for connection in &mut calls {
            assert_eq!(reply(connection).await.text(), "in time");
        }
        for stream in &mut streams {
            let messages = stream.rest().await;
            assert_eq!(messages.len(), 21);
            assert_eq!(text_of(&messages[20]), "20 ticks");
        }
        check_soon("calls", &server.wait());
    });
}

/// During the shutdown, a client may finish a request that it has begun to send.
#[support::test]
fn a_request_that_is_being_sent_at_shutdown_is_answered() {
    run(async {
        let server = started(ENDLESS).await;
        let bytes = call(1, "echo", json!({ "text": "on its way" })).bytes();
        let mut body = send(server.address(), &bytes[..bytes.len() - 10]).await;
        let mut ready =
            send(server.address(), b"GET /readyz HTTP/1.1\r\nHost: localhost\r\n").await;
        let mut listen = send(server.address(), b"POST /mcp").await;
        read_by_every_reactor(server.address()).await;
        server.terminate();
        closed_to_others(&server).await;
        body.send(&bytes[bytes.len() - 10..], SOON).await.unwrap();
        assert_eq!(reply(&mut body).await.text(), "on its way");
        ready.send(b"\r\n", SOON).await.unwrap();
        assert_eq!(reply(&mut ready).await.status(), 503);
        // The server opens no stream that would have to end at once.
        let late = modern("late", "subscriptions/listen", json!({ "notifications": {} })).bytes();
        listen.send(&late[9..], SOON).await.unwrap();
        reply(&mut listen).await.check_busy("");
        check_soon("requests on their way", &server.wait());
    });
}

#[support::test]
fn listen_streams_end_with_a_result_at_shutdown() {
    run(async {
        let server = started(ENDLESS).await;
        let uris = ["notes://1"];
        let filter = json!({ "notifications": { "resourceSubscriptions": uris } });
        let mut streams: Vec<Stream> = Vec::new();
        for id in [json!("a"), json!(7)] {
            let request = modern(id.clone(), "subscriptions/listen", filter.clone());
            let mut stream = request.open(server.address()).await.check_events();
            let first = stream.message().await.unwrap();
            assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
            streams.push(stream);
        }
        let from = Stopwatch::start();
        server.terminate();
        for (stream, id) in streams.iter_mut().zip([json!("a"), json!(7)]) {
            let rest = stream.rest().await;
            let [result] = &rest[..] else { panic!("{rest:?}") };
            assert_eq!(result["id"], id);
            assert_eq!(result["result"]["resultType"], "complete", "{result}");
            let meta = &result["result"]["_meta"];
            assert_eq!(meta["io.modelcontextprotocol/subscriptionId"], id);
        }
        support::note!("{MODERN} streams have ended after {:?}", from.elapsed());
        check_soon("listening", &server.wait());
    });
}

#[support::test]
fn streams_of_older_revisions_end_at_shutdown() {
    run(async {
        let server = started(ENDLESS).await;
        let mut streams = Vec::new();
        for revision in ["2025-03-26", "2025-06-18", "2025-11-25"] {
            let session = Session::begin(server.address(), revision).await;
            streams.push(session.get().open(server.address()).await.check_events());
        }
        let pair = Request::get().to("/sse").open(server.address()).await.check_events();
        streams.push(pair);
        assert!(streams[3].event().await.is_some());
        server.terminate();
        for stream in &mut streams {
            assert!(stream.rest().await.is_empty());
        }
        check_soon("GET streams", &server.wait());
    });
}

#[support::test]
fn requests_that_never_end_are_dropped_after_the_grace_period() {
    run(async {
        let server = started("grace=700").await;
        let session = Session::begin(server.address(), "2025-11-25").await;
        let mut held = plain_call(1, "hold", json!({ "key": "a" })).send(server.address()).await;
        let mut of_session =
            session.call(1, "hold", json!({ "key": "b" })).send(server.address()).await;
        let mut stubborn = call(1, "stubborn", json!({})).send(server.address()).await;
        let mut half = send(server.address(), b"GET /mcp").await;
        read_by_every_reactor(server.address()).await;
        assert!(of_session.head(false, SOON).await.unwrap().is_stream());
        for key in ["a", "b"] {
            plain_call(1, "begun", json!({ "key": key })).ask(server.address()).await;
        }
        server.terminate();
        let ended = server.wait();
        support::note!("never: ended after {:?}", ended.took);
        assert!(ended.status.success(), "{ended:?}");
        assert!(ended.took >= GRACE, "{ended:?}");
        assert!(ended.stderr.contains("dropped; connections: 3,"), "{ended:?}");
        assert_eq!(ended.stderr.matches("on_shutdown has run").count(), 1, "{ended:?}");
        for connection in [&mut held, &mut stubborn, &mut half] {
            check_closed(connection).await;
        }
    });
}

/// A client that does not read delays the end of the server by the grace period at most, like a running call.
#[support::test]
fn a_client_that_does_not_read_is_dropped_after_the_grace_period() {
    run(async {
        let server = started("grace=700").await;
        let request = plain_call(1, "big", json!({ "bytes": 16 << 20 }));
        let mut connection = request.send(server.address()).await;
        assert_eq!(connection.head(false, SOON).await.unwrap().status, 200);
        server.terminate();
        let ended = server.wait();
        assert!(ended.status.success(), "{ended:?}");
        assert!(ended.stderr.contains("dropped; connections: 1,"), "{ended:?}");
    });
}

/// The client of a session may later see the effects of its call in another process, so the call gets the grace period.
#[support::test]
fn a_call_whose_client_has_left_gets_the_grace_period() {
    run(async {
        let server = started("grace=700").await;
        let session = Session::begin(server.address(), "2025-11-25").await;
        let hold = session.call(1, "hold", json!({ "key": "a" }));
        let mut stream = hold.open(server.address()).await.check_events();
        stream.message().await.unwrap();
        drop(stream);
        let ping = session.post(&message(2, "ping", json!({}))).ask(server.address()).await;
        assert_eq!(ping.status(), 200);
        read_by_every_reactor(server.address()).await;
        server.terminate();
        let ended = server.wait();
        assert!(ended.status.success() && ended.took >= GRACE, "{ended:?}");
        assert!(ended.stderr.contains("dropped; connections: 0, calls: 1"), "{ended:?}");
    });
}

/// A user who sends a second signal does not want to wait, so the server ends at once, as it does on stdio.
#[support::test]
fn a_second_signal_ends_the_grace_period() {
    run(async {
        let server = started(ENDLESS).await;
        let _held = call(1, "hold", json!({ "key": "a" })).open(server.address()).await;
        server.terminate();
        closed_to_others(&server).await;
        server.terminate();
        let ended = server.wait();
        assert!(ended.status.success(), "{ended:?}");
    });
}

#[support::test]
fn a_server_with_a_busy_handler_ends_after_the_grace_period_or_a_second_signal() {
    run(async {
        for (limits, signals) in [("grace=700", 1), (ENDLESS, 2)] {
            let server = started(limits).await;
            let _call = call(1, "compute", json!({})).send(server.address()).await;
            server.wait_for_line("computing");
            server.terminate();
            // The operating system may merge two signals, so the second one is sent after the first one has taken effect.
            closed_to_others(&server).await;
            if signals == 2 {
                server.terminate();
            }
            let ended = server.wait();
            assert_eq!(ended.status.code(), Some(1), "{ended:?}");
            let said = &ended.stderr;
            assert!(said.contains("the tool `compute` at tests/faults/fixture.rs:"), "{said}");
            if signals == 1 {
                assert!(ended.took >= GRACE, "{ended:?}");
            }
            assert_eq!(said.matches("on_shutdown has run").count(), 1, "{said}");
        }
    });
}
