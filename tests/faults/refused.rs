//! Requests that are refused before their bodies are read. Either the connection accepts the next request, or the response says that
//! the connection closes.

use std::time::Duration;

use mcp_runtime::{auth::StaticTokens, limits::Limits};
use serde_json::json;
use support::{
    clock::linger,
    http::{connection::Connection, head::Head},
};

use crate::{
    authorization::{Served, server, with},
    client::{Request, SOON, call, initialize, run},
    server::MIB,
};

/// Moment at which the body of a request is sent.
#[derive(Clone, Copy, Debug)]
enum Body {
    WithTheHead,
    AfterTheHead,
    AfterTheResponse,
}

async fn read(connection: &mut Connection) -> Head {
    let head = connection.head(false, SOON).await.unwrap();
    connection.body(SOON).await.unwrap();
    head
}

/// Sends a request, and returns the head of the response.
async fn exchange(connection: &mut Connection, request: &Request, body: Body) -> Head {
    let bytes = request.bytes();
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").unwrap() + 4;
    let (first, rest) = match body {
        Body::WithTheHead => (&bytes[..], &b""[..]),
        _ => bytes.split_at(end),
    };
    connection.send(first, SOON).await.unwrap();
    if let Body::AfterTheHead = body {
        // After this pause the server has usually read the head without the body. If not, the response is the same.
        linger(Duration::from_millis(20)).await;
        connection.send(rest, SOON).await.unwrap();
    }
    let head = read(connection).await;
    if let Body::AfterTheResponse = body {
        connection.send(rest, SOON).await.unwrap();
    }
    head
}

fn refusals(request: &Request) -> Vec<(&'static str, u16, Request)> {
    let request = || request.clone();
    vec![
        ("host", 403, with("a", request().host("evil.example"))),
        ("origin", 403, with("a", request().header("Origin", "https://evil.example"))),
        ("no token", 401, request()),
        ("token", 401, with("b", request())),
        ("path", 404, with("a", request().to("/elsewhere"))),
        ("method", 405, with("a", request().method("PUT"))),
        ("preflight", 204, request().method("OPTIONS")),
        ("size", 413, with("a", request().padded(5000))),
        ("pieces", 413, with("a", request().padded(200 << 10))),
        ("type", 415, with("a", request().replace("Content-Type", "text/plain"))),
        ("accept", 406, with("a", request().replace("Accept", "text/html"))),
        ("session", 404, with("a", request().method("DELETE").header("Mcp-Session-Id", "0"))),
        ("pair", 404, with("a", request().to("/message?sessionId=0"))),
        ("health", 200, request().to("/healthz")),
    ]
}

#[support::test]
fn a_connection_is_usable_after_a_request_that_is_refused_unread() {
    run(async {
        let limits = Limits::new().message(4096);
        let tokens = StaticTokens::new().token("a", "ada");
        let served = Served::start(server().legacy_sse(true).limits(limits).auth(tokens)).await;
        let good = || with("a", call(1, "greet", json!({})));
        for request in [call(1, "greet", json!({})), initialize("2025-11-25")] {
            for (what, status, refused) in refusals(&request) {
                for body in [Body::WithTheHead, Body::AfterTheHead, Body::AfterTheResponse] {
                    let name = format!("{what}, {body:?}");
                    let mut connection = Connection::open(served.address).await.unwrap();
                    for _ in 0..2 {
                        let head = exchange(&mut connection, &refused, body).await;
                        assert_eq!(head.status, status, "{name}");
                        assert_eq!(head.get("connection"), None, "{name}");
                        connection.send(&good().bytes(), SOON).await.unwrap();
                        let next = connection.head(false, SOON).await;
                        let next = next.unwrap_or_else(|error| panic!("{name}: {error}"));
                        connection.body(SOON).await.unwrap();
                        assert_eq!(next.status, 200, "{name}");
                    }
                }
            }
        }
        served.end().await;
    });
}

/// Tests a body that is long, a body without a known length, and a body that is sent only after `100 Continue`.
#[support::test]
fn a_response_announces_that_its_connection_closes_if_the_body_is_not_read() {
    run(async {
        let tokens = StaticTokens::new().token("a", "ada");
        let served = Served::start(server().auth(tokens)).await;
        for request in [call(1, "greet", json!({})), initialize("2025-11-25")] {
            for (what, refused) in [
                ("long", request.clone().padded(MIB)),
                ("chunked", request.clone().chunked()),
                ("permission", request.clone().header("Expect", "100-continue")),
            ] {
                let bytes = refused.bytes();
                let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").unwrap() + 4;
                let mut connection = Connection::open(served.address).await.unwrap();
                connection.send(&bytes[..end], SOON).await.unwrap();
                let head = read(&mut connection).await;
                assert_eq!(head.status, 401, "{what}");
                assert_eq!(head.get("connection").as_deref(), Some("close"), "{what}");
                let error = connection.head(false, SOON).await.unwrap_err();
                assert_eq!(error, "closed without a response: \"\"", "{what}");
            }
        }
        served.end().await;
    });
}

/// A client can read the response even if it is still sending the body when the response arrives.
#[support::test]
fn a_response_arrives_while_a_long_body_is_still_being_sent() {
    run(async {
        let served = Served::start(server().auth(StaticTokens::new().token("a", "ada"))).await;
        let bytes = call(1, "greet", json!({})).padded(12 * MIB).bytes();
        let mut connection = Connection::open(served.address).await.unwrap();
        connection.send_all(&bytes, SOON).await.unwrap();
        assert_eq!(read(&mut connection).await.status, 401);
        served.end().await;
    });
}
