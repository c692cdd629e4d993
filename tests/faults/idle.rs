//! Idle connections. A proxy keeps them open for its next request, so the server must not close them before the proxy does.

use std::time::Duration;

use mcp_runtime::limits::Limits;
use serde_json::json;
use support::{
    clock::{in_step, moment, pause},
    http::connection::Connection,
};
use tokio::time::{Instant, advance};

use crate::{
    authorization::{Served, server},
    client::{Request, modern},
};

/// Time that a proxy keeps an idle connection by default: nginx 60 seconds, Caddy 2 minutes.
const OF_PROXIES: Duration = Duration::from_secs(120);

/// Default of `Limits::body_time`, within which the head of a request has to arrive.
const HEAD: Duration = Duration::from_secs(30);

/// Default of `Limits::connection_idle`.
const IDLE: Duration = Duration::from_secs(150);

/// Longer than any deadline of these tests, on their clock.
const DAY: Duration = Duration::from_secs(86_400);

fn ping() -> Request {
    modern(1, "server/discover", json!({}))
}

/// Sends a request, and reads the whole response.
async fn exchange(connection: &mut Connection, request: &Request) -> u16 {
    connection.send_all(&request.bytes(), DAY).await.unwrap();
    let head = connection.head(false, DAY).await.unwrap();
    connection.body(DAY).await.unwrap();
    head.status
}

/// Lets the clock run for this time, in steps that are shorter than the pauses between two looks of the server at its deadlines.
async fn pass(time: Duration) {
    const STEP: Duration = Duration::from_millis(1500);
    let until = moment() + time;
    while moment() < until {
        advance(STEP).await;
        pause().await;
    }
}

/// Checks that the server closes the connection, and that this happens after `limit`, which began at `from`. The server may close it up to
/// a quarter of [`HEAD`] later.
async fn check_closed_after(connection: &mut Connection, from: Instant, limit: Duration) {
    while connection.is_free() {
        assert!(from.elapsed() < limit + DAY / 2, "the connection stays open");
        pass(Duration::from_secs(1)).await;
    }
    let took = from.elapsed();
    assert!(took >= limit && took <= limit + HEAD / 2, "{took:?} instead of {limit:?}");
}

#[support::test]
fn an_idle_connection_is_kept_for_longer_than_proxies_keep_it() {
    in_step(async {
        let served = Served::start(server()).await;
        let mut connection = Connection::open(served.address).await.unwrap();
        for _ in 0..2 {
            assert_eq!(exchange(&mut connection, &ping()).await, 200);
            pass(OF_PROXIES).await;
        }
        assert_eq!(exchange(&mut connection, &ping()).await, 200);
        check_closed_after(&mut connection, moment(), IDLE).await;
        served.end().await;
    });
}

#[support::test]
fn the_time_of_an_idle_connection_can_be_set() {
    in_step(async {
        let limit = Duration::from_secs(12);
        let served = Served::start(server().limits(Limits::new().connection_idle(limit))).await;
        let mut connection = Connection::open(served.address).await.unwrap();
        assert_eq!(exchange(&mut connection, &ping()).await, 200);
        check_closed_after(&mut connection, moment(), limit).await;
        served.end().await;
    });
}

/// The time for the head begins with its first byte, not with the end of the request before.
#[support::test]
fn a_head_that_stops_half_way_ends_a_connection_that_was_idle() {
    in_step(async {
        let served = Served::start(server()).await;
        let mut connection = Connection::open(served.address).await.unwrap();
        assert_eq!(exchange(&mut connection, &ping()).await, 200);
        pass(IDLE - HEAD).await;
        let from = moment();
        connection.send_all(b"POST /mcp HT", DAY).await.unwrap();
        pass(HEAD / 2).await;
        // A further byte does not begin the time again.
        connection.send_all(b"TP/1.1\r\nHo", DAY).await.unwrap();
        check_closed_after(&mut connection, from, HEAD).await;
        served.end().await;
    });
}

#[support::test]
fn a_connection_without_any_request_is_closed_after_the_time_for_a_head() {
    in_step(async {
        let served = Served::start(server()).await;
        let from = moment();
        let mut connection = Connection::open(served.address).await.unwrap();
        check_closed_after(&mut connection, from, HEAD).await;
        served.end().await;
    });
}

/// The server reads and drops the body of a refused request. Its bytes do not count as the beginning of the next request.
#[support::test]
fn a_body_that_arrives_after_the_refusal_does_not_shorten_the_idle_time() {
    in_step(async {
        let served = Served::start(server()).await;
        let mut connection = Connection::open(served.address).await.unwrap();
        let bytes = ping().to("/nowhere").bytes();
        let (head, rest) = bytes.split_at(bytes.len() - 10);
        connection.send_all(head, DAY).await.unwrap();
        assert_eq!(connection.head(false, DAY).await.unwrap().status, 404);
        connection.body(DAY).await.unwrap();
        pass(HEAD / 2).await;
        connection.send_all(rest, DAY).await.unwrap();
        pass(OF_PROXIES).await;
        assert_eq!(exchange(&mut connection, &ping()).await, 200);
        served.end().await;
    });
}

#[support::test]
fn the_rest_of_a_refused_body_has_to_arrive_in_time() {
    in_step(async {
        let served = Served::start(server()).await;
        let mut connection = Connection::open(served.address).await.unwrap();
        let bytes = ping().to("/nowhere").bytes();
        connection.send_all(&bytes[..bytes.len() - 10], DAY).await.unwrap();
        assert_eq!(connection.head(false, DAY).await.unwrap().status, 404);
        connection.body(DAY).await.unwrap();
        check_closed_after(&mut connection, moment(), HEAD).await;
        served.end().await;
    });
}
