//! The time between a signal and the end of the listener, in which a load balancer learns that the server is stopping.

use std::{net::SocketAddr, time::Duration};

use mcp_runtime::{Builder, limits::Limits};
use serde_json::json;
use support::{
    clock::{eventually, in_step, moment, pause},
    http::{connection::Connection, head::Head},
};
use tokio::{
    task::JoinHandle,
    time::{Instant, advance},
};

use crate::{
    authorization::{Served, server},
    client::{
        Request, SOON, Session, call, check_echo, modern, plain_call, read_by_every_reactor, run,
    },
    server::{Server, fixture},
    tasks::Folder,
};

async fn exchange(connection: &mut Connection, request: &Request) -> Head {
    connection.send_all(&request.bytes(), SOON).await.unwrap();
    let head = connection.head(false, SOON).await.unwrap();
    connection.body(SOON).await.unwrap();
    head
}

/// Opens a connection, and reads the answer to a first request.
async fn open_idle(address: SocketAddr) -> Connection {
    let mut connection = Connection::open(address).await.unwrap();
    assert_eq!(exchange(&mut connection, &discover()).await.get("connection"), None);
    connection
}

fn draining(options: &[&str], limits: &str) -> Server {
    Server::start_with(fixture(), options, &[("FIXTURE_LIMITS", limits)])
}

fn discover() -> Request {
    modern(1, "server/discover", json!({}))
}

fn echo() -> Request {
    plain_call(1, "echo", json!({ "text": "x" }))
}

async fn status(address: SocketAddr, path: &str) -> u16 {
    Request::new("GET", path).ask(address).await.status()
}

async fn wait_until_not_ready(address: SocketAddr) {
    eventually("the server is not ready", async || {
        (status(address, "/readyz").await == 503).then_some(())
    })
    .await;
}

/// Checks that the connections close before `most` has passed since `from`. The clock advances by 5 ms after the server has done all that it can
/// do, so the load of the machine has no part in this.
async fn check_closed_within(most: Duration, from: Instant, idle: &mut [Connection]) {
    eventually("the connections close", async || {
        idle.iter_mut().all(|connection| !connection.is_free()).then_some(())
    })
    .await;
    assert!(from.elapsed() < most, "{:?}", from.elapsed());
}

/// Uses up no time: each signal ends a period of an hour or of ten minutes.
#[support::test]
fn a_draining_server_accepts_connections_and_is_not_ready() {
    run(async {
        let server = draining(&["--drain", "1h"], "grace=600000");
        let address = server.address();
        let mut idle = Connection::open(address).await.unwrap();
        assert_eq!(exchange(&mut idle, &echo()).await.get("connection"), None);
        let session = Session::begin(address, "2025-11-25").await;
        let mut listening = session.get().open(address).await.check_events();
        assert_eq!(status(address, "/readyz").await, 200);
        server.terminate();
        wait_until_not_ready(address).await;
        assert_eq!(status(address, "/healthz").await, 200);
        check_echo(address).await;
        Session::begin(address, "2025-11-25").await;
        // The clients send their next requests on new connections, which may lead to another server.
        let mut new = Connection::open(address).await.unwrap();
        for connection in [&mut new, &mut idle] {
            let head = exchange(connection, &echo()).await;
            assert_eq!((head.status, head.get("connection").as_deref()), (200, Some("close")));
            let closed = connection.head(false, SOON).await.unwrap_err();
            assert_eq!(closed, "closed without a response: \"\"");
        }
        // The second signal ends the drain, and the third one the grace period.
        let _held = call(1, "hold", json!({ "key": "a" })).open(address).await;
        server.terminate();
        assert!(listening.rest().await.is_empty());
        server.terminate();
        let ended = server.wait();
        assert!(ended.status.success(), "{ended:?}");
        assert_eq!(ended.stderr.matches("on_shutdown has run").count(), 1, "{ended:?}");
        let waits = "stopping: waits for 1 call, at most 600s";
        assert_eq!(ended.stderr.matches(waits).count(), 1, "{ended:?}");
    });
}

/// A call that began before the drain tells its client to use a new connection, too.
#[support::test]
fn a_call_that_ends_during_the_drain_is_the_last_of_its_connection() {
    run(async {
        let server = draining(&["--drain=1h"], "");
        let folder = Folder::new();
        let mut until = folder.flag("go");
        until["text"] = json!("in time");
        let mut calling = plain_call(1, "wait_for_file", until).send(server.address()).await;
        read_by_every_reactor(server.address()).await;
        server.terminate();
        wait_until_not_ready(server.address()).await;
        folder.raise("go");
        let head = calling.head(false, SOON).await.unwrap();
        assert_eq!(head.get("connection").as_deref(), Some("close"));
        calling.body(SOON).await.unwrap();
        server.terminate();
        assert!(server.wait().status.success());
    });
}

#[support::test]
fn the_listener_closes_after_the_drain() {
    const DRAIN: Duration = Duration::from_secs(20);
    in_step(async {
        let served = Served::start(server().drain(DRAIN).limits(Limits::new())).await;
        let address = served.address;
        assert_eq!(status(address, "/readyz").await, 200);
        let from = moment();
        let stopping = served.stop();
        wait_until_not_ready(address).await;
        while !stopping.is_finished() {
            assert!(from.elapsed() < 10 * DRAIN, "the server does not stop");
            advance(Duration::from_millis(500)).await;
            pause().await;
            if from.elapsed() < DRAIN {
                assert_eq!(status(address, "/readyz").await, 503);
            }
        }
        assert!(from.elapsed() >= DRAIN, "{:?}", from.elapsed());
        stopping.await.unwrap();
        Connection::open(address).await.unwrap_err();
    });
}

/// Opens two idle connections, and stops the server when they have been answered. The connections are returned when the listener has closed.
async fn stop_beside_idle_connections(builder: Builder) -> ([Connection; 2], JoinHandle<()>) {
    let served = Served::start(builder).await;
    let address = served.address;
    let idle = [open_idle(address).await, open_idle(address).await];
    let stopping = served.stop();
    eventually("the listener closes", async || Connection::open(address).await.err()).await;
    (idle, stopping)
}

/// A proxy on a busy machine notices late that a connection has closed, and does not repeat a call that it has sent on it.
#[support::test]
fn a_stopping_server_answers_a_trusted_proxy_on_an_idle_connection_after_a_second() {
    in_step(async {
        let from = moment();
        let trusting = server().trust_proxy("127.0.0.1").limits(Limits::new());
        let (mut idle, stopping) = stop_beside_idle_connections(trusting).await;
        advance(Duration::from_secs(1)).await;
        pause().await;
        assert!(idle.iter_mut().all(Connection::is_free));
        let head = exchange(&mut idle[0], &discover()).await;
        assert_eq!((head.status, head.get("connection").as_deref()), (200, Some("close")));
        assert!(idle[1].is_free());
        advance(Duration::from_secs(1)).await;
        check_closed_within(Duration::from_millis(2400), from, &mut idle).await;
        stopping.await.unwrap();
    });
}

/// The head of a response that began before the stop does not announce the end of the connection, so a proxy keeps the connection.
#[support::test]
fn a_stopping_server_answers_a_trusted_proxy_a_second_after_a_stream_has_ended() {
    in_step(async {
        let trusting = server().trust_proxy("127.0.0.1").limits(Limits::new());
        let served = Served::start(trusting).await;
        let session = Session::begin(served.address, "2025-11-25").await;
        let mut of_session = session.get().open(served.address).await.check_events();
        let listen = modern(1, "subscriptions/listen", json!({ "notifications": {} }));
        let mut listening = listen.open(served.address).await.check_events();
        let stopping = served.stop();
        of_session.rest().await;
        listening.rest().await;
        advance(Duration::from_secs(1)).await;
        pause().await;
        for stream in [&mut of_session, &mut listening] {
            assert_eq!(stream.head.get("connection"), None);
            let head = exchange(&mut stream.connection, &discover()).await;
            assert_eq!((head.status, head.get("connection").as_deref()), (200, Some("close")));
        }
        stopping.await.unwrap();
    });
}

/// Only a proxy sends requests of other clients, and the grace period is for running calls.
#[support::test]
fn a_stopping_server_closes_an_idle_connection_within_a_second_without_a_proxy_and_with_a_short_grace_period()
 {
    const SECOND: Duration = Duration::from_secs(1);
    for builder in [
        server().trust_proxy("10.0.0.7").limits(Limits::new()),
        server().trust_proxy("127.0.0.1").limits(Limits::new().grace(SECOND)),
    ] {
        in_step(async {
            let from = moment();
            let (mut idle, stopping) = stop_beside_idle_connections(builder).await;
            check_closed_within(SECOND, from, &mut idle).await;
            assert!(from.elapsed() >= Duration::from_millis(250), "{:?}", from.elapsed());
            stopping.await.unwrap();
        });
    }
}

/// Returns the bytes of a request, cut in two in the head or in the body.
fn halves(is_in_head: bool) -> (Vec<u8>, Vec<u8>) {
    let mut first = echo().bytes();
    let head = first.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap() + 4;
    let rest = first.split_off(if is_in_head { head / 2 } else { head + 10 });
    (first, rest)
}

#[support::test]
fn a_stopping_server_closes_a_connection_with_half_a_request_within_a_second() {
    const SECOND: Duration = Duration::from_secs(1);
    for is_in_head in [true, false] {
        for is_second in [false, true] {
            in_step(async {
                let served = Served::start(server().limits(Limits::new())).await;
                let address = served.address;
                let mut half = match is_second {
                    true => open_idle(address).await,
                    false => Connection::open(address).await.unwrap(),
                };
                half.send_all(&halves(is_in_head).0, SOON).await.unwrap();
                status(address, "/readyz").await;
                let from = moment();
                let stopping = served.stop();
                check_closed_within(SECOND, from, &mut [half]).await;
                stopping.await.unwrap();
                assert!(from.elapsed() < SECOND, "{is_in_head} {is_second}: {:?}", from.elapsed());
            });
        }
    }
}

#[support::test]
fn a_stopping_server_answers_a_request_whose_bytes_arrive_slowly() {
    for is_in_head in [true, false] {
        in_step(async {
            let served = Served::start(server().limits(Limits::new())).await;
            let address = served.address;
            let mut slow = Connection::open(address).await.unwrap();
            let (first, rest) = halves(is_in_head);
            slow.send_all(&first, SOON).await.unwrap();
            status(address, "/readyz").await;
            let stopping = served.stop();
            for piece in rest.chunks(rest.len() / 8) {
                advance(Duration::from_millis(150)).await;
                pause().await;
                slow.send_all(piece, SOON).await.unwrap();
            }
            let head = slow.head(false, SOON).await.unwrap();
            assert_eq!((head.status, head.get("connection").as_deref()), (200, Some("close")));
            stopping.await.unwrap();
        });
    }
}

/// A proxy has sent its request when the operating system has connected. It does not repeat the request if the connection is reset.
#[support::test]
fn a_connection_that_no_task_has_accepted_when_the_listener_closes_is_served() {
    in_step(async {
        let served = Served::start(server()).await;
        let address = served.address;
        assert_eq!(status(address, "/readyz").await, 200);
        // The server stops before tokio asks the operating system for events, so tokio does not know these connections.
        let mut waiting = [(); 3].map(|()| Connection::open_blocking(address).unwrap());
        let stopping = served.stop();
        for connection in &mut waiting {
            let head = exchange(connection, &discover()).await;
            assert_eq!((head.status, head.get("connection").as_deref()), (200, Some("close")));
        }
        stopping.await.unwrap();
    });
}
