//! Limits on the size of a request, tested on both sides of each limit.

use serde_json::{Value, json};

use crate::{
    client::{Request, SOON, Session, call, check_echo, message, run, send},
    server::{MIB, Server},
};

fn echo() -> Request {
    call(1, "echo", json!({ "text": "just right" }))
}

#[support::test]
fn a_body_may_be_as_long_as_the_limit() {
    run(async {
        let server = Server::start("message=4096");
        for length in [4095, 4096] {
            for request in [echo().padded(length), echo().padded(length).chunked()] {
                assert_eq!(request.ask(server.address()).await.text(), "just right");
            }
        }
        for request in [echo().padded(4097), echo().padded(4097).chunked()] {
            let refused = request.ask(server.address()).await;
            refused.check_error(413, -32600, "longer than 4096 bytes");
        }
        check_echo(server.address()).await;
    });
}

#[support::test]
fn a_body_may_begin_with_a_byte_order_mark() {
    run(async {
        let server = Server::start("");
        let client = json!({ "name": "c", "version": "1" });
        let params =
            json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
        let body = format!("\u{feff}{}", message(1, "initialize", params));
        let reply = Request::post(body).ask(server.address()).await;
        assert_eq!(reply.json()["result"]["protocolVersion"], "2025-11-25");
    });
}

/// The server answers before it has received the body, and does not read the rest.
#[support::test]
fn a_body_that_is_too_long_is_rejected_before_it_has_arrived() {
    run(async {
        let server = Server::start("");
        let before = server.memory();
        for request in [echo().padded(17 * MIB), echo().padded(17 * MIB).chunked()] {
            let is_chunked = request.ask(server.address()).await;
            is_chunked.check_error(413, -32600, "longer than 16777216 bytes");
        }
        let bytes = echo().padded(17 * MIB).bytes();
        let mut head_only = send(server.address(), &bytes[..1000]).await;
        assert_eq!(head_only.head(false, SOON).await.unwrap().status, 413);
        check_echo(server.address()).await;
        let grown = server.memory().above(before);
        support::note!("17 MiB in chunks: {} MiB", grown >> 20);
        assert!(grown < 64 * MIB, "{grown}");
    });
}

/// The limit applies to the whole head. The server checks it once per read, so the rejected heads of this test exceed it by at least 1,000
/// bytes.
#[support::test]
fn a_head_may_be_as_long_as_the_limit() {
    const LIMIT: usize = 16 << 10;
    run(async {
        let server = Server::start("head=16384");
        let with = |length: usize| {
            let plain = echo().header("X-Pad", "").bytes();
            let head = plain.windows(4).position(|window| window == b"\r\n\r\n").unwrap() + 4;
            echo().header("X-Pad", "x".repeat(length - head))
        };
        for length in [LIMIT / 2, LIMIT - 1, LIMIT] {
            assert_eq!(with(length).ask(server.address()).await.text(), "just right");
        }
        for length in [LIMIT + 1000, 4 * LIMIT, 64 * LIMIT] {
            let mut connection = with(length).send(server.address()).await;
            assert_eq!(connection.head(false, SOON).await.unwrap().status, 431, "{length}");
        }
        check_echo(server.address()).await;
    });
}

#[support::test]
fn a_message_may_be_as_deep_as_the_limit() {
    run(async {
        let server = Server::start("depth=16");
        // The message, `params` and `arguments` are the first three levels.
        let nested = |depth: usize| {
            let inner = (0..depth - 3).fold(json!(0), |inner, _| json!([inner]));
            call(1, "echo", json!({ "text": inner }))
        };
        for depth in [4, 15, 16] {
            let reply = nested(depth).ask(server.address()).await;
            assert_eq!(reply.status(), 200, "{depth}: {reply:?}");
            assert_eq!(reply.json()["result"]["isError"], true, "{depth}");
        }
        for depth in [17, 1000] {
            nested(depth).ask(server.address()).await.check_error(400, -32700, "");
        }
        let mut endless = message(1, "x", json!({})).to_string();
        endless.truncate(endless.len() - 3);
        endless.push_str(&"[".repeat(MIB));
        let refused = Request::post(endless).ask(server.address()).await;
        refused.check_error(400, -32700, "");
        check_echo(server.address()).await;
    });
}

#[support::test]
fn a_batch_may_be_as_long_as_the_limit() {
    run(async {
        let server = Server::start("batch=5");
        let session = Session::begin(server.address(), "2025-03-26").await;
        let batch = |length: usize| {
            let pings = (0..length).map(|id| message(id, "ping", json!({})));
            session.post(&Value::Array(pings.collect()))
        };
        for length in [1, 4, 5] {
            let reply = batch(length).ask(server.address()).await;
            assert_eq!(reply.status(), 200, "{reply:?}");
            assert_eq!(reply.json().as_array().unwrap().len(), length);
        }
        for length in [6, 10_000] {
            let refused = batch(length).ask(server.address()).await;
            refused.check_error(400, -32600, "the batch is too long");
        }
        check_echo(server.address()).await;
    });
}
