//! The bytes of a large request count towards the limit `all_bodies` until its call ends.

use std::{
    net::SocketAddr,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

use mcp_runtime::{Builder, limits::Limits, prelude::*};
use serde_json::{Value, json};
use support::clock::{eventually, eventually_blocking};
use tokio::sync::Semaphore;

use crate::{
    client::{Request, SOON, Session, plain_call, run},
    rates::serving,
    server::MIB,
};

/// Calls that hold a large text. `held` counts these calls, and each permit of `ends` lets one call end.
struct Calls {
    held: AtomicUsize,
    ends: Semaphore,
}

/// Holds a text until the call may end.
#[tool]
async fn keep(text: String, calls: &Calls) -> usize {
    calls.held.fetch_add(1, Relaxed);
    calls.ends.acquire().await.expect("the semaphore is open").forget();
    text.len()
}

/// Holds a text on a thread until the call may end, whether or not the client still waits.
#[tool(blocking)]
fn keep_on_a_thread(text: String, calls: &Calls) -> usize {
    calls.held.fetch_add(1, Relaxed);
    eventually_blocking("the call may end", || calls.ends.try_acquire().ok()).forget();
    text.len()
}

/// Returns the number of calls that have held a text.
#[tool]
fn held(calls: &Calls) -> usize {
    calls.held.load(Relaxed)
}

/// Lets a call end.
#[tool]
fn end(calls: &Calls) {
    calls.ends.add_permits(1);
}

/// Returns the length of a text.
#[tool]
fn length(text: String) -> usize {
    text.len()
}

/// Builds a server whose limit allows for two texts of 400 KiB: one that a call holds, and one that is being read.
fn server() -> Builder {
    mcp_runtime::server!(name = "budgets")
        .items(items![keep, keep_on_a_thread, held, end, length])
        .state(Calls { held: AtomicUsize::new(0), ends: Semaphore::new(0) })
        .limits(Limits::new().all_bodies(MIB))
}

fn text() -> Value {
    json!({ "text": "x".repeat(400 << 10) })
}

fn ask(tool: &str) -> Request {
    plain_call(1, tool, text())
}

const FULL: &str = "too large together";

/// Waits until a call holds a text.
async fn until_held(address: SocketAddr) {
    eventually("a call holds a text", async || {
        (plain_call(1, "held", json!({})).ask(address).await.text() == "1").then_some(())
    })
    .await;
}

#[support::test]
fn a_large_request_counts_until_its_call_ends() {
    run(async {
        for tool in ["keep", "keep_on_a_thread"] {
            serving(server(), async |address| {
                assert_eq!(ask("length").ask(address).await.text(), (400 << 10).to_string());
                let mut held = ask(tool).send(address).await;
                until_held(address).await;
                ask("length").ask(address).await.check_busy(FULL);
                let small = plain_call(1, "length", json!({ "text": "small" })).ask(address).await;
                assert_eq!(small.text(), "5");
                plain_call(1, "end", json!({})).ask(address).await;
                assert_eq!(held.head(false, SOON).await.unwrap().status, 200);
                assert_eq!(ask("length").ask(address).await.text(), (400 << 10).to_string());
            })
            .await;
        }
    });
}

/// A call of a session continues after its client has disconnected, and so does a handler on a blocking thread. Their requests therefore
/// still count towards the limit.
#[support::test]
fn a_client_that_leaves_gives_nothing_back_that_is_still_held() {
    run(async {
        for tool in ["keep", "keep_on_a_thread"] {
            serving(server(), async |address| {
                let session = Session::begin(address, "2025-11-25").await;
                let length = async || {
                    session.call(2, "length", text()).ask(address).await.json().to_string()
                };
                let leaving = session.call(1, tool, text()).send(address).await;
                until_held(address).await;
                drop(leaving);
                assert!(length().await.contains(FULL));
                if tool == "keep_on_a_thread" {
                    let params = json!({ "requestId": 1 });
                    let cancelled = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
                    session.post(&cancelled).ask(address).await;
                    assert!(length().await.contains(FULL), "the thread has the text");
                }
                plain_call(1, "end", json!({})).ask(address).await;
                eventually("the call ends", async || {
                    (!length().await.contains(FULL)).then_some(())
                })
                .await;
            })
            .await;
        }
    });
}
