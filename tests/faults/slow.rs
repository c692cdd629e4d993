//! Clients that send a request slowly, or stop in the middle of a request.

use std::time::Duration;

use serde_json::json;
use support::{
    clock::{Stopwatch, linger},
    http::connection::Connection,
};

use crate::{
    client::{Reply, Request, SOON, call, check_echo, run, send},
    server::{MIB, Server},
};

const TIME: Duration = Duration::from_millis(700);
const LIMITS: &str = "body_time=700";

fn echo() -> Request {
    call(1, "echo", json!({ "text": "slowly" }))
}

async fn check_too_slow(mut connection: Connection, from: Stopwatch) {
    let head = connection.head(false, SOON).await.unwrap();
    assert!(from.elapsed() >= TIME, "{:?}", from.elapsed());
    let body = connection.body(SOON).await.unwrap();
    Reply { head, body }.check_error(408, -32600, "the body took longer than 700ms");
}

#[support::test]
fn a_body_that_stops_half_way_times_out() {
    run(async {
        let server = Server::start(LIMITS);
        let bytes = echo().bytes();
        let from = Stopwatch::start();
        let half = send(server.address(), &bytes[..bytes.len() - 10]).await;
        check_echo(server.address()).await;
        check_too_slow(half, from).await;
    });
}

#[support::test]
fn a_body_that_arrives_too_slowly_times_out() {
    run(async {
        let server = Server::start(LIMITS);
        let bytes = echo().bytes();
        let (head, drops) = bytes.split_at(bytes.len() - 100);
        let from = Stopwatch::start();
        let mut dripping = send(server.address(), head).await;
        for byte in drops.chunks(1) {
            dripping.send(byte, SOON).await.unwrap();
            linger(TIME / 50).await;
            if from.elapsed() > TIME / 2 && from.elapsed() < TIME {
                check_echo(server.address()).await;
            }
        }
        check_too_slow(dripping, from).await;
    });
}

#[support::test]
fn a_slow_body_within_the_limit_is_read() {
    run(async {
        let server = Server::start("body_time=20000");
        for request in [echo(), echo().chunked()] {
            let bytes = request.bytes();
            let mut dripping = send(server.address(), &bytes[..1]).await;
            for byte in bytes[1..].chunks(7) {
                dripping.send(byte, SOON).await.unwrap();
                linger(Duration::from_millis(2)).await;
            }
            assert_eq!(dripping.head(false, SOON).await.unwrap().status, 200);
            let body = dripping.body(SOON).await.unwrap();
            assert!(String::from_utf8_lossy(&body).contains("slowly"));
        }
    });
}

/// Without a complete head there is no request to answer, so the server closes the connection without a response.
#[support::test]
fn a_head_that_stops_half_way_times_out() {
    run(async {
        let server = Server::start(LIMITS);
        let from = Stopwatch::start();
        let mut half = send(server.address(), b"POST /mcp HTTP/1.1\r\nHost: local").await;
        let mut silent = send(server.address(), b"").await;
        check_echo(server.address()).await;
        for connection in [&mut half, &mut silent] {
            let error = connection.head(false, SOON).await.unwrap_err();
            assert_eq!(error, "closed without a response: \"\"");
        }
        assert!(from.elapsed() >= TIME, "{:?}", from.elapsed());
    });
}

/// Other clients are served while hundreds of requests are unfinished. An unfinished request uses memory only for the bytes that have
/// arrived, not for the announced length.
#[support::test]
fn many_unfinished_requests_delay_no_other_client() {
    run(async {
        let server = Server::start("body_time=600000");
        check_echo(server.address()).await;
        let before = server.memory();
        let large = echo().padded(15 * MIB).bytes();
        let (mut bodies, mut heads) = (Vec::new(), Vec::new());
        for _ in 0..4 {
            for _ in 0..50 {
                bodies.push(send(server.address(), &large[..2000]).await);
                heads.push(send(server.address(), &large[..20]).await);
            }
            // Keeps the queue of connections to be accepted short. If the queue were full, the operating system would retry further
            // connections only after a second.
            check_echo(server.address()).await;
        }
        let grown = server.memory().above(before);
        support::note!("400 halves: {} KiB each", (grown >> 10) / 400);
        assert!(grown < 400 * (64 << 10), "{grown}");
        for half in bodies.iter_mut().chain(&mut heads) {
            assert!(half.is_silent(), "the echo came only after it had been given up");
        }

        let server = Server::start(LIMITS);
        let (mut bodies, mut heads) = (Vec::new(), Vec::new());
        for _ in 0..50 {
            bodies.push(send(server.address(), &large[..2000]).await);
            heads.push(send(server.address(), &large[..20]).await);
        }
        for mut body in bodies {
            assert_eq!(body.head(false, SOON).await.unwrap().status, 408);
        }
        for mut head in heads {
            head.head(false, SOON).await.unwrap_err();
        }
        check_echo(server.address()).await;
    });
}
