//! Memory cost of sessions that clients open and then abandon. Also tests the limit on sessions, and idle sessions, which make room for new
//! ones.

use std::time::Duration;

use mcp_runtime::limits::Limits;
use serde_json::{Value, json};
use support::clock::{before_it_ends, eventually, jump};

use crate::{
    client::{Session, check_echo, initialize, message, run},
    rates::{self, serving},
    server::Server,
};

const REVISION: &str = "2025-11-25";

/// Bytes that a session may cost after it was opened and forgotten. Measured in a debug build: 1.8 KiB.
const OPENED: usize = 8 << 10;
/// Bytes that a session may cost after a subscription and two streams. Measured: 6 KiB.
const USED: usize = 24 << 10;
const COUNT: usize = 1000;

#[support::test]
fn a_thousand_forgotten_sessions_cost_little() {
    run(async {
        let server = Server::start("");
        // Warms the server up, so that the measured memory does not include the threads of the runtime and the arenas of the allocator.
        for _ in 0..200 {
            Session::begin(server.address(), REVISION).await;
        }
        let before = server.memory();
        let address = server.address();
        let clients = (0..4).map(|_| async move {
            for _ in 0..COUNT / 4 {
                Session::open(address, REVISION).await;
            }
        });
        let clients: Vec<_> = clients.map(tokio::spawn).collect();
        check_echo(server.address()).await;
        let meanwhile = clients.iter().any(|client| !client.is_finished());
        for client in clients {
            client.await.unwrap();
        }
        let grown = server.memory().above(before);
        support::note!("opened: {} bytes a session", grown / COUNT);
        assert!(meanwhile, "another client waited for all of them");
        assert!(grown < COUNT * OPENED, "{} bytes a session", grown / COUNT);
    });
}

/// Each session has a subscription, and its client has closed the standalone stream.
#[support::test]
fn a_thousand_sessions_whose_streams_broke_cost_little() {
    run(async {
        let server = Server::start("");
        let used = async |count: usize| {
            for _ in 0..count {
                let session = Session::begin(server.address(), REVISION).await;
                let subscribe = message(1, "resources/subscribe", json!({ "uri": "notes://0" }));
                assert_eq!(session.post(&subscribe).ask(server.address()).await.status(), 200);
                let stream = session.get().open(server.address()).await.check_events();
                let call = session.call(2, "ticks", json!({ "n": 1, "ms": 0 }));
                let mut ticks = call.open(server.address()).await.check_events();
                assert_eq!(ticks.rest().await.len(), 2);
                drop(stream);
            }
        };
        used(100).await;
        let before = server.memory();
        used(COUNT / 2).await;
        check_echo(server.address()).await;
        let grown = server.memory().above(before);
        support::note!("used: {} bytes a session", 2 * grown / COUNT);
        assert!(grown < COUNT / 2 * USED, "{} bytes a session", 2 * grown / COUNT);
        // All sessions are notified of the update, and no client reads.
        let touched =
            crate::client::ask(server.address(), "touch", json!({ "uris": 1, "times": 200 }));
        assert_eq!(touched.await, "1 touched 200 times");
        let grown = server.memory().above(before);
        support::note!("… and with an update nobody reads: {} bytes a session", 2 * grown / COUNT);
        assert!(grown < COUNT / 2 * USED, "{} bytes a session", 2 * grown / COUNT);
    });
}

async fn filled(limits: &str, count: usize) -> (Server, Vec<Session>) {
    let server = Server::start(limits);
    let mut sessions = Vec::new();
    for _ in 0..count {
        sessions.push(Session::begin(server.address(), REVISION).await);
    }
    (server, sessions)
}

#[support::test]
fn sessions_beyond_the_limit_are_refused_until_one_is_deleted() {
    run(async {
        let (server, sessions) = filled("sessions=3", 3).await;
        for _ in 0..3 {
            let refused = initialize(REVISION).ask(server.address()).await;
            refused.check_busy("there are already 3 sessions");
            assert_eq!(refused.head.get("mcp-session-id"), None);
        }
        // A stream of HTTP+SSE counts as a session too.
        let pair = crate::client::Request::get().to("/sse").ask(server.address()).await;
        pair.check_busy("there are already 3 sessions");
        check_echo(server.address()).await;
        let deleted = sessions[1].delete().ask(server.address()).await;
        assert_eq!(deleted.status(), 204);
        Session::begin(server.address(), REVISION).await;
        initialize(REVISION).ask(server.address()).await.check_busy("3 sessions");
        // The remaining sessions still work.
        let echo = |at: usize| sessions[at].call(1, "echo", json!({ "text": "mine" }));
        assert_eq!(echo(0).ask(server.address()).await.text(), "mine");
        let gone = echo(1).ask(server.address()).await;
        assert_eq!((gone.status(), &gone.json()["code"]), (404, &json!(-32001)), "{gone:?}");
    });
}

#[support::test]
fn idle_sessions_make_room_for_new_ones() {
    run(before_it_ends(1, async |valid| {
        let (server, _sessions) = filled("sessions=3,session_idle=600000", 3).await;
        initialize(REVISION).ask(server.address()).await.check_busy("3 sessions");
        let limits = format!("sessions=3,session_idle={}", 1000 * valid.seconds);
        let (server, sessions) = filled(&limits, 3).await;
        // An open stream counts as use of the session, and so does a running call.
        let _stream = sessions[0].get().open(server.address()).await.check_events();
        let hold = json!({ "key": "a" });
        let _call = sessions[1].call(1, "hold", hold).open(server.address()).await.check_events();
        begun_eventually(&server).await;
        let ping = message(1, "ping", Value::Object(serde_json::Map::new()));
        for (session, expected) in sessions.iter().zip([200, 200, 404]) {
            let reply = session.post(&ping).ask(server.address()).await;
            assert_eq!(reply.status(), expected, "{reply:?}");
        }
    }));
}

/// A session that was opened but never used becomes idle like any other session, so that a new session can take its place.
#[support::test]
fn sessions_that_were_never_used_become_idle_no_later() {
    let limits = Limits::new().sessions(3).session_idle(Duration::from_millis(300));
    run(serving(rates::server().limits(limits), async |address| {
        for _ in 0..3 {
            Session::open(address, REVISION).await;
        }
        jump(Duration::from_millis(301)).await;
        Session::open(address, REVISION).await;
    }));
}

/// Begins a session as soon as the limit on sessions allows it.
async fn begun_eventually(server: &Server) {
    eventually("room for a session", async || {
        let reply = initialize(REVISION).ask(server.address()).await;
        (reply.status() == 200).then_some(())
    })
    .await;
}
