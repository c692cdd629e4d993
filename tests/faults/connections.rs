//! Connections that wait for their clients. The server closes such connections when new clients need them.

use std::{num::NonZero, time::Duration};

use mcp_runtime::{
    Builder,
    limits::{Limit, Limits},
    prelude::*,
};
use serde_json::json;
use support::{
    clock::{eventually, in_step, moment, pause},
    http::connection::Connection,
};
use tokio::time::advance;

use crate::{
    authorization::Served,
    client::{Request, SOON, modern, plain_call, run, send},
    server::{MIB, Server},
};

/// Size of a large answer in bytes, far more than the operating systems buffer on both ends of a connection.
const MUCH: usize = 16 * MIB;

/// Answers with this many bytes.
#[tool]
fn large(bytes: usize) -> String {
    "x".repeat(bytes)
}

/// Returns the number of refusals because of a limit.
#[tool]
fn refused(name: String, server: Handle) -> Result<u64, &'static str> {
    let limit = Limit::ALL.iter().find(|limit| limit.name() == name).ok_or("unknown")?;
    Ok(server.stats().refused(*limit))
}

/// Waits forever.
#[tool]
async fn waits() {
    std::future::pending().await
}

fn server(limits: Limits) -> Builder {
    mcp_runtime::server!(name = "connections").items(items![large, refused, waits]).limits(limits)
}

fn ask_large(bytes: usize) -> Request {
    plain_call(1, "large", json!({ "bytes": bytes }))
}

fn ask_refused(limit: &str) -> Request {
    plain_call(1, "refused", json!({ "name": limit }))
}

/// Sends a request, and reads the whole answer.
async fn exchange(connection: &mut Connection, request: &Request) -> Result<u16, String> {
    connection.send(&request.bytes(), SOON).await?;
    let status = connection.head(false, SOON).await?.status;
    connection.body(SOON).await?;
    Ok(status)
}

/// Requests a large answer and does not read it, so that the answer blocks the connection.
async fn blocked(served: &Served) -> Connection {
    let mut connection = ask_large(MUCH).send(served.address).await;
    // The head has arrived, so the server is writing the response.
    assert_eq!(connection.head(false, SOON).await.unwrap().status, 200);
    connection
}

const DAY: Duration = Duration::from_secs(86_400);

#[support::test]
fn a_connection_whose_client_does_not_read_is_closed() {
    in_step(async {
        let limit = Duration::from_secs(60);
        let served = Served::start(server(Limits::new().write_time(limit))).await;
        let from = moment();
        let mut unread = ask_large(MUCH).send(served.address).await;
        let mut other = Connection::open(served.address).await.unwrap();
        let mut passed = 0;
        let mut is_closed = false;
        while !is_closed {
            assert!(passed < 600, "the connection stays open");
            advance(Duration::from_secs(1)).await;
            passed += 1;
            other.send(&ask_refused("write_time").bytes(), DAY).await.unwrap();
            other.head(false, DAY).await.unwrap();
            let answer = String::from_utf8(other.body(DAY).await.unwrap()).unwrap();
            is_closed = answer.contains("\"1\"");
        }
        assert!(from.elapsed() >= limit, "{:?}", from.elapsed());
        let rest = async {
            unread.head(false, DAY).await?;
            unread.body(DAY).await
        };
        rest.await.unwrap_err();
        served.end().await;
    });
}

/// The client reads a part of the answer within each period of `write_time`. The whole answer takes much longer than one period.
#[support::test]
fn a_client_that_reads_slowly_is_given_the_whole_answer() {
    in_step(async {
        let limits = Limits::new().write_time(Duration::from_secs(60));
        let served = Served::start(server(limits)).await;
        let mut slow = ask_large(MUCH).send(served.address).await;
        slow.head(false, DAY).await.unwrap();
        let mut read = 0;
        loop {
            let piece = slow.piece(MIB / 2, DAY).await.unwrap();
            if piece.is_empty() {
                break;
            }
            read += piece.len();
            // Lets the server write more before the clock jumps.
            for _ in 0..4 {
                pause().await;
            }
            advance(Duration::from_secs(40)).await;
        }
        assert!(read > MUCH, "{read}");
        served.end().await;
    });
}

#[support::test]
fn the_connection_that_waited_longest_gives_way_to_a_new_one() {
    run(async {
        let served = Served::start(server(Limits::new().connections(4))).await;
        let ping = || modern(1, "server/discover", json!({}));
        let mut idle = Vec::new();
        for _ in 0..4 {
            let mut connection = Connection::open(served.address).await.unwrap();
            assert_eq!(exchange(&mut connection, &ping()).await, Ok(200));
            idle.push(connection);
        }
        // The first connection is used again, so the second one has been idle for the longest time. The server closes it for the new
        // connection.
        assert_eq!(exchange(&mut idle[0], &ping()).await, Ok(200));
        let mut new = Connection::open(served.address).await.unwrap();
        assert_eq!(exchange(&mut new, &ask_refused("connections")).await, Ok(200));
        let error = idle.remove(1).head(false, SOON).await.unwrap_err();
        assert_eq!(error, "closed without a response: \"\"");
        idle.push(new);
        for mut connection in idle {
            assert_eq!(exchange(&mut connection, &ping()).await, Ok(200));
        }
        served.end().await;
    });
}

#[support::test]
fn connections_whose_clients_do_not_read_or_send_give_way() {
    run(async {
        let served = Served::start(server(Limits::new().connections(4))).await;
        let mut waiting = vec![blocked(&served).await, blocked(&served).await];
        let upload = ask_large(1).padded(MIB).bytes();
        for _ in 0..2 {
            waiting.push(send(served.address, &upload[..2000]).await);
        }
        for _ in 0..20 {
            let mut new = Connection::open(served.address).await.unwrap();
            assert_eq!(exchange(&mut new, &ask_large(1)).await, Ok(200));
            waiting.push(new);
        }
        for connection in &mut waiting[..2] {
            connection.body(SOON).await.unwrap_err();
        }
        served.end().await;
    });
}

#[support::test]
fn health_checks_are_answered_while_every_connection_is_worked_for() {
    run(async {
        let served = Served::start(server(Limits::new().connections(3))).await;
        let address = served.address;
        let mut working = Vec::new();
        for _ in 0..3 {
            working.push(plain_call(1, "waits", json!({})).send(address).await);
        }
        // There are more requests here than connections in the reserve. All requests succeed, because each connection of the reserve
        // closes after its answer.
        for _ in 0..40 {
            let healthy = Request::new("GET", "/healthz").ask(address).await;
            assert_eq!(healthy.status(), 200);
            let refused = ask_large(1).ask(address).await;
            refused.check_busy("too many connections");
            assert_eq!(refused.head.get("connection").as_deref(), Some("close"));
        }
        // An idle connection of the reserve is closed too if another client needs it.
        let mut silent = Vec::new();
        for _ in 0..40 {
            silent.push(Connection::open(address).await.unwrap());
        }
        assert_eq!(Request::new("GET", "/readyz").ask(address).await.status(), 200);
        drop(working.pop());
        eventually("there is room again", async || {
            (ask_large(1).ask(address).await.status() == 200).then_some(())
        })
        .await;
        drop((working, silent));
        served.end().await;
    });
}

/// Handlers open files too, so connections do not take all descriptors of the process.
#[cfg(unix)]
#[support::test]
fn connections_leave_descriptors_to_handlers() {
    run(async {
        // The server itself needs a few descriptors for each processor.
        let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
        let descriptors = 128 + 32 * u32::try_from(processors).unwrap();
        let server = Server::start_with_descriptors(descriptors, "");
        let mut idle = Vec::new();
        for _ in 0..descriptors + 32 {
            idle.push(Connection::open(server.address()).await.unwrap());
        }
        let opened = plain_call(1, "open_files", json!({ "count": 8 })).ask(server.address()).await;
        assert_eq!(opened.text(), "8");
        drop(idle);
    });
}

/// A response without a body is small, but a client can send any number of requests. The server therefore reads no further requests while
/// the client does not read its responses.
#[support::test]
fn no_requests_are_read_from_a_client_that_does_not_read() {
    run(async {
        let served = Served::start(server(Limits::new())).await;
        let notification = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let many = Request::post(notification.to_string())
            .header("MCP-Protocol-Version", "2026-07-28")
            .bytes()
            .repeat(1000);
        let mut unread = Connection::open(served.address).await.unwrap();
        let sent = async {
            for n in 0..1000 {
                if unread.send(&many, Duration::from_millis(500)).await.is_err() {
                    return n;
                }
            }
            1000
        };
        // The client could send only as much as both operating systems buffer, not all 200 MB.
        let sent = sent.await;
        assert!(sent < 500, "{sent},000 requests have been read");
        served.end().await;
    });
}

#[support::test]
fn a_large_answer_takes_the_room_of_answers_that_are_not_read() {
    run(async {
        let served = Served::start(server(Limits::new().all_answers(MUCH + MUCH / 2))).await;
        let mut unread = blocked(&served).await;
        for _ in 0..3 {
            let read = ask_large(MUCH).ask(served.address).await;
            assert_eq!((read.status(), read.body.len() > MUCH), (200, true));
        }
        unread.body(SOON).await.unwrap_err();
        let refused = ask_refused("all_answers").ask(served.address).await;
        assert_ne!(refused.text(), "0");
        served.end().await;
    });
}

#[support::test]
fn an_answer_that_alone_exceeds_the_limit_is_refused() {
    run(async {
        let served = Served::start(server(Limits::new().all_answers(MIB))).await;
        let mut connection = Connection::open(served.address).await.unwrap();
        for _ in 0..3 {
            let refused = ask_large(2 * MIB).ask(served.address).await;
            refused.check_busy("too many answers are waiting to be read");
            assert_eq!(exchange(&mut connection, &ask_large(MIB / 2)).await, Ok(200));
        }
        served.end().await;
    });
}
