//! Tests for the end of a connection, and for the limit on its unread responses. They use tokio's paused clock.

use std::{
    cell::Cell,
    pin::pin,
    task::{Context as TaskContext, Poll},
    time::Duration,
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex, split},
    time::{Instant, sleep, timeout},
};

use super::{HIGH_WATER, serve};
use crate::{
    Tool,
    builder::{builder, items},
    call::context::Context,
    limits::Limits,
    protocol::{Peer, Service},
    server::Identity,
};

const GRACE: Duration = Limits::new().grace;
const SECOND: Duration = Duration::from_secs(1);

async fn peer() -> Peer {
    let identity = Identity::new("tests", None, "0", "");
    let server = builder(identity).items(items(&[])).build().unwrap();
    let handle = server.handle();
    let tools = [
        Tool::new("wait").handler(async |_: Context| {
            sleep(3 * SECOND).await;
            "waited"
        }),
        Tool::new("hold").handler(async |_: Context| std::future::pending::<()>().await),
        Tool::new("big").handler(async |_: Context| "x".repeat(HIGH_WATER / 4)),
    ];
    tools.into_iter().try_for_each(|tool| handle.add(tool)).unwrap();
    Peer::new(Service::new(&server.start().await.unwrap()))
}

fn call(id: usize, tool: &str) -> String {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": crate::protocol::Revision::MODERN[0].name(),
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "name": tool, "_meta": meta });
    let call = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
    format!("{call}\n")
}

/// A `stop` that is never ready.
fn never(_: &mut TaskContext<'_>) -> Poll<()> {
    Poll::Pending
}

/// Returns a `stop` that is ready after each of these times, measured from the call of this function.
fn after(times: &[Duration]) -> impl FnMut(&mut TaskContext<'_>) -> Poll<()> {
    let mut sleeps: Vec<_> = times.iter().rev().map(|time| Box::pin(sleep(*time))).collect();
    move |cx| match sleeps.last_mut().map(|sleep| sleep.as_mut().poll(cx)) {
        Some(Poll::Ready(())) => {
            sleeps.pop();
            Poll::Ready(())
        }
        _ => Poll::Pending,
    }
}

/// Sends `lines`, and then closes the client's writing side if `closes` is true. Returns the ids of the responses, and the time until the
/// server ended.
async fn run(
    lines: &str,
    closes: bool,
    stop: impl FnMut(&mut TaskContext<'_>) -> Poll<()>,
) -> (Vec<Value>, Duration) {
    let peer = peer().await;
    let (client, server) = duplex(1 << 20);
    let (input, output) = split(server);
    let (mut from_server, mut to_server) = split(client);
    to_server.write_all(lines.as_bytes()).await.unwrap();
    if closes {
        to_server.shutdown().await.unwrap();
    }
    let since = Instant::now();
    serve(&peer, input, output, stop).await.unwrap();
    let took = since.elapsed();
    drop(peer);
    let mut text = String::new();
    from_server.read_to_string(&mut text).await.unwrap();
    let id = |line: &str| serde_json::from_str::<Value>(line).unwrap()["id"].take();
    (text.lines().map(id).collect(), took)
}

#[track_caller]
fn check((ids, took): (Vec<Value>, Duration), expected: &[u64], after: Duration) {
    assert_eq!(ids, expected);
    // Tokio's clock has a resolution of one millisecond.
    assert!(took >= after && took <= after + SECOND / 100, "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn the_end_of_the_input_ends_an_idle_connection_at_once() {
    check(run("", true, never).await, &[], Duration::ZERO);
    check(run(&call(1, "big"), true, never).await, &[1], Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn calls_are_finished_within_the_grace() {
    check(run(&call(1, "wait"), true, never).await, &[1], 3 * SECOND);
    check(run(&(call(1, "wait") + &call(2, "wait")), true, never).await, &[1, 2], 3 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn calls_are_given_up_after_the_grace() {
    check(run(&call(1, "hold"), true, never).await, &[], GRACE);
    check(run(&(call(1, "hold") + &call(2, "wait")), true, never).await, &[2], GRACE);
}

#[tokio::test(start_paused = true)]
async fn a_stop_is_an_end_and_a_second_one_ends_the_grace() {
    check(run("", false, after(&[SECOND])).await, &[], SECOND);
    check(run(&call(1, "wait"), false, after(&[SECOND])).await, &[1], 3 * SECOND);
    check(run(&call(1, "hold"), false, after(&[SECOND])).await, &[], SECOND + GRACE);
    check(run(&call(1, "hold"), false, after(&[SECOND, 2 * SECOND])).await, &[], 2 * SECOND);
    check(run(&call(1, "hold"), true, after(&[2 * SECOND])).await, &[], 2 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn a_message_that_a_stop_interrupts_is_not_answered() {
    check(run("{\"jsonrpc\":", false, after(&[SECOND])).await, &[], SECOND);
}

/// The client closes its writing side and keeps the connection open, but does not read. The server ends after the grace period.
#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_read_does_not_hold_the_connection() {
    let peer = peer().await;
    let (client, server) = duplex(1000);
    let (input, output) = split(server);
    let (_unread, mut to_server) = split(client);
    to_server.write_all(call(1, "big").as_bytes()).await.unwrap();
    to_server.shutdown().await.unwrap();
    let since = Instant::now();
    serve(&peer, input, output, never).await.unwrap();
    assert_eq!(since.elapsed().as_secs(), GRACE.as_secs());
}

/// The shutdown of the output never completes, as if a thread were blocked in a write. The server ends after the grace period.
#[tokio::test(start_paused = true)]
async fn an_output_that_cannot_be_closed_does_not_hold_the_connection() {
    struct Stuck;
    impl tokio::io::AsyncWrite for Stuck {
        fn poll_write(
            self: std::pin::Pin<&mut Self>,
            _: &mut TaskContext<'_>,
            bytes: &[u8],
        ) -> Poll<std::io::Result<usize>> {
            Poll::Ready(Ok(bytes.len()))
        }

        fn poll_flush(
            self: std::pin::Pin<&mut Self>,
            _: &mut TaskContext<'_>,
        ) -> Poll<std::io::Result<()>> {
            Poll::Pending
        }

        fn poll_shutdown(
            self: std::pin::Pin<&mut Self>,
            _: &mut TaskContext<'_>,
        ) -> Poll<std::io::Result<()>> {
            Poll::Pending
        }
    }
    let peer = peer().await;
    let since = Instant::now();
    serve(&peer, tokio::io::empty(), Stuck, never).await.unwrap();
    assert_eq!(since.elapsed().as_secs(), GRACE.as_secs());
}

#[tokio::test(start_paused = true)]
async fn a_client_that_has_gone_is_no_error() {
    let peer = peer().await;
    let (client, server) = duplex(1000);
    drop::<DuplexStream>(client);
    let (input, output) = split(server);
    serve(&peer, input, output, never).await.unwrap();
}

/// All requests arrive in one read. The server handles further requests only while the client reads the responses.
#[tokio::test(start_paused = true)]
async fn unread_answers_are_not_piled_up() {
    const CALLS: usize = 100;
    let peer = peer().await;
    let (client, server) = duplex(64 << 10);
    let (input, output) = split(server);
    let (mut from_server, mut to_server) = split(client);
    let all: String = (0..CALLS).map(|id| call(id, "big")).collect();
    to_server.write_all(all.as_bytes()).await.unwrap();
    to_server.shutdown().await.unwrap();

    let most = Cell::new(0);
    let mut serving = pin!(serve(&peer, input, output, |_: &mut TaskContext<'_>| {
        most.set(most.get().max(peer.outbox().len()));
        Poll::Pending
    }));
    assert!(timeout(SECOND, serving.as_mut()).await.is_err(), "nobody reads");
    // The client sees the end of the stream only when both halves of the server's side have been dropped. The loop therefore counts lines
    // instead.
    let reading = async {
        let mut chunk = vec![0; 1 << 20];
        let mut lines = 0;
        while lines < CALLS {
            let count = from_server.read(&mut chunk).await.unwrap();
            lines += chunk[..count].iter().filter(|byte| **byte == b'\n').count();
        }
    };
    let both = async { tokio::join!(serving, reading) };
    let (served, ()) = timeout(60 * SECOND, both).await.expect("all answers arrive");
    served.unwrap();
    assert!(most.get() < 2 * HIGH_WATER, "{}", most.get());
}
