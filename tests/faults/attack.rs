//! Clients that do not read their answers, and calls that hold large arguments. The tests check that the server meanwhile answers another
//! client, and that its memory stays bounded.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use serde_json::json;
use support::{clock::Stopwatch, http::connection::Connection};
use tokio::{task::JoinSet, time::timeout};

use crate::{
    client::{Request, SOON, Session, call, check_echo, plain_call, run_within, send, tool_call},
    server::{MIB, Server},
};

/// Size of the attack, and the memory that the server may use during it, in bytes. `time` is a deadline that only a hang exceeds, not a
/// measure of speed.
struct Scale {
    limits: &'static str,
    answer: usize,
    argument: usize,
    memory: usize,
    time: Duration,
}

/// A sixteenth of the default limit on bodies and a thirty-second of the default limit on answers, so that the test ends in time on a busy
/// machine. Without the limit on answers, the server uses 220 MiB. With the limit, the server uses 105 MiB, and up to 50 MiB more on a busy
/// machine, because the answer of a call that has just ended does not count yet.
const SMALL: Scale = Scale {
    limits: "all_answers=33554432,all_bodies=67108864",
    answer: MIB,
    argument: MIB,
    memory: 192 * MIB,
    time: Duration::from_secs(600),
};

/// The default limits.
const FULL: Scale = Scale {
    limits: "",
    answer: 4 * MIB,
    argument: 15 * MIB,
    memory: 1536 * MIB,
    time: Duration::from_secs(1200),
};

/// Client that never reads its answers. It opens `times` connections, each after the server has closed the previous one.
struct Attacker {
    bytes: Vec<u8>,
    times: usize,
}

impl Attacker {
    /// Opens the connections one after the other, and keeps each open until the server closes it.
    async fn attack(self, address: SocketAddr, connected: Arc<AtomicUsize>) {
        for _ in 0..self.times {
            let Ok(mut connection) = Connection::open(address).await else { return };
            connected.fetch_add(1, Relaxed);
            // Sends until the server reads no more, or closes the connection.
            while let Ok(Ok(())) =
                timeout(Duration::from_secs(2), connection.send_all(&self.bytes, SOON)).await
            {
            }
            connection.closed().await;
        }
    }
}

fn check_memory(what: &str, server: &Server, most: usize) {
    let peak = server.memory().peak;
    support::note!("{what}: at most {} MiB", peak >> 20);
    assert!(peak < most, "{what}: {} MiB", peak >> 20);
}

/// Sends requests like any other client, and returns how long the answers took.
async fn served(address: SocketAddr) -> Duration {
    let watch = Stopwatch::start();
    check_echo(address).await;
    assert_eq!(Request::new("GET", "/healthz").ask(address).await.status(), 200);
    watch.elapsed()
}

async fn check_beside_clients_that_do_not_read(scale: Scale) {
    let server = Server::start_with_descriptors(256, scale.limits);
    let address = server.address();
    let connected = Arc::new(AtomicUsize::new(0));
    let mut attackers = JoinSet::new();
    let mut slowest = served(address).await;
    for n in 0..300 {
        let bytes = match n % 3 {
            0 => Request::new("GET", "/healthz").bytes().repeat(1000),
            1 => plain_call(n, "big", json!({ "bytes": scale.answer })).bytes(),
            _ => call(n, "late", json!({ "bytes": scale.answer, "ms": 1 })).bytes(),
        };
        let attacker = Attacker { bytes, times: 2 };
        attackers.spawn(attacker.attack(address, connected.clone()));
        if n % 4 == 0 {
            slowest = slowest.max(served(address).await);
        }
    }
    let watch = Stopwatch::start();
    while connected.load(Relaxed) < 300 {
        assert!(watch.elapsed() < scale.time, "{connected:?} attackers have come");
        slowest = slowest.max(served(address).await);
    }
    let connected = connected.load(Relaxed);
    support::note!("{connected} connections that are not read: an answer took at most {slowest:?}");
    check_memory("connections that are not read", &server, scale.memory);
    attackers.shutdown().await;
}

async fn check_beside_calls_that_hold_large_arguments(scale: Scale) {
    let server = Server::start_with_descriptors(256, scale.limits);
    let address = server.address();
    let session = Session::begin(address, "2025-11-25").await;
    let arguments = json!({ "key": "attack", "text": "x".repeat(scale.argument) });
    // Each request has its own id. All ids have the same length, so the loop only overwrites the bytes of the id.
    let mut bytes = session.post(&tool_call("no-000", "hold_task", arguments)).bytes();
    let id = bytes.windows(6).position(|window| window == b"no-000").unwrap();
    let (mut slowest, mut begun) = (served(address).await, 0);
    for n in 0..300 {
        bytes[id..id + 6].copy_from_slice(format!("no-{n:03}").as_bytes());
        let mut leaving = send(address, &bytes).await;
        // A call that has begun reports a step, so its response is a stream.
        let is_stream = leaving.head(false, scale.time).await.is_ok_and(|head| head.is_stream());
        begun += usize::from(is_stream);
        drop(leaving);
        if n % 10 == 0 {
            slowest = slowest.max(served(address).await);
        }
    }
    let size = scale.argument >> 20;
    support::note!("{begun} of 300 calls hold {size} MiB: an answer took at most {slowest:?}");
    check_memory("calls that hold large arguments", &server, scale.memory);
    assert!((1..100).contains(&begun), "{begun}");
}

#[support::test]
fn a_client_is_served_beside_clients_that_do_not_read() {
    run_within(SMALL.time, check_beside_clients_that_do_not_read(SMALL));
}

#[support::test]
#[ignore = "takes a minute of an idle machine"]
fn a_client_is_served_with_default_limits_beside_clients_that_do_not_read() {
    run_within(FULL.time, check_beside_clients_that_do_not_read(FULL));
}

#[support::test]
fn a_client_is_served_beside_calls_that_hold_large_arguments() {
    run_within(SMALL.time, check_beside_calls_that_hold_large_arguments(SMALL));
}

#[support::test]
#[ignore = "takes a minute of an idle machine"]
fn a_client_is_served_with_default_limits_beside_calls_that_hold_large_arguments() {
    run_within(FULL.time, check_beside_calls_that_hold_large_arguments(FULL));
}
