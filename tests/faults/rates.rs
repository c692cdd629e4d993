//! Callers of an item with a rate do not limit each other. A caller is a principal, a session or, without either, an address.

use std::{net::SocketAddr, sync::Arc};

use axum::middleware::from_fn;
use mcp_runtime::{Builder, limits::Limits, prelude::*};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpSocket},
    sync::{Semaphore, oneshot},
};

use crate::{
    client::{Request, Session, call, plain_call, run},
    mounted::Application,
    principals::{by, sign_in},
};

/// May be called once an hour.
#[tool(rate = "1/h")]
fn once() -> &'static str {
    "said"
}

/// Semaphores of a call. The call adds a permit to `begun`, and then waits for a permit of `go`.
struct Turns {
    begun: Semaphore,
    go: Semaphore,
}

/// Waits for a permit from the test.
#[tool(concurrency = 1)]
async fn alone(turns: &Arc<Turns>) -> &'static str {
    turns.begun.add_permits(1);
    turns.go.acquire().await.expect("nobody closes it").forget();
    "done"
}

/// Reports progress from one to five.
#[tool]
async fn count(progress: Progress) -> &'static str {
    for number in 1..=5 {
        progress.report(number);
        tokio::task::yield_now().await;
    }
    "counted"
}

/// Returns the limits that have refused a request, with the number of refusals.
#[tool]
fn refused(server: Handle) -> String {
    let stats = server.stats();
    let refused = stats.all_refused().filter(|entry| entry.1 > 0);
    refused.map(|(limit, count)| format!("{limit} {count}")).collect::<Vec<_>>().join(", ")
}

pub(crate) fn server() -> Builder {
    mcp_runtime::server!(name = "rates").items(items![once, refused, count])
}

/// Runs the server on its own port while the test runs.
pub(crate) async fn serving<T>(server: Builder, test: impl AsyncFnOnce(SocketAddr) -> T) -> T {
    let server = server.bind_http("127.0.0.1:0").await.unwrap();
    let address = server.local_addr();
    let (stop, stopped) = oneshot::channel::<()>();
    let served = tokio::spawn(server.serve_until(async { drop(stopped.await) }));
    let done = test(address).await;
    stop.send(()).unwrap();
    served.await.unwrap().unwrap();
    done
}

/// Sends a request from this source address, and returns the response.
async fn from(source: &str, request: &Request, address: SocketAddr) -> String {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(format!("{source}:0").parse().unwrap()).unwrap();
    let mut stream = socket.connect(address).await.unwrap();
    stream.write_all(&request.clone().header("Connection", "close").bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

pub(crate) const TOO_OFTEN: &str = "`once` may be called once an hour; try again in 3";

async fn check_addresses(address: SocketAddr) {
    let once = || plain_call(1, "once", json!({}));
    // No proxy is trusted here, so the headers with addresses are ignored.
    for (source, header, expected) in [
        ("127.0.0.1", "192.0.2.1", "said"),
        ("127.0.0.1", "192.0.2.2", TOO_OFTEN),
        ("127.0.0.2", "192.0.2.1", "said"),
        ("127.0.0.2", "192.0.2.3", TOO_OFTEN),
        ("127.0.0.1", "192.0.2.4", TOO_OFTEN),
    ] {
        let request =
            once().header("X-Forwarded-For", header).header("Forwarded", format!("for={header}"));
        let answer = from(source, &request, address).await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        assert!(answer.contains(expected), "{source}: {answer}");
    }
}

/// Only Linux has loopback addresses other than 127.0.0.1.
#[cfg(target_os = "linux")]
#[support::test]
fn two_addresses_do_not_limit_each_other() {
    run(serving(server(), async |address| check_addresses(address).await));
}

#[cfg(target_os = "linux")]
#[support::test]
fn a_mounted_server_limits_each_address_that_its_application_reports() {
    run(async {
        let router = server().into_router().await.unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let service = router.into_make_service_with_connect_info::<SocketAddr>();
        let served = tokio::spawn(async move { axum::serve(listener, service).await });
        check_addresses(address).await;
        served.abort();
    });
}

#[support::test]
fn two_principals_do_not_limit_each_other() {
    run(async {
        let router = server().into_router().await.unwrap().layer(from_fn(sign_in));
        let app = Application::start(router).await;
        let users = [Some("ada"), Some("grace"), None];
        for expected in ["said", TOO_OFTEN] {
            for user in users {
                let reply = by(user, plain_call(1, "once", json!({}))).ask(app.address).await;
                assert_eq!(reply.status(), 200);
                assert!(reply.text().contains(expected), "{user:?}: {}", reply.text());
            }
        }
        // A principal is one caller, in a session and without one.
        let begun = by(Some("ada"), crate::client::initialize("2025-11-25")).ask(app.address).await;
        let id = begun.head.get("mcp-session-id").expect("a session");
        let session = Session { address: app.address, revision: "2025-11-25", id };
        let reply = by(Some("ada"), session.call(2, "once", json!({}))).ask(app.address).await;
        assert!(reply.text().contains(TOO_OFTEN), "{}", reply.text());
        app.end().await;
    });
}

#[support::test]
fn two_sessions_do_not_limit_each_other() {
    run(serving(server(), async |address| {
        let sessions = [
            Session::begin(address, "2025-11-25").await,
            Session::begin(address, "2025-03-26").await,
        ];
        for expected in ["said", TOO_OFTEN] {
            for session in &sessions {
                let reply = session.call(2, "once", json!({})).ask(address).await;
                assert!(reply.text().contains(expected), "{}", reply.text());
            }
        }
    }));
}

/// The `concurrency` of an item does not grow with the number of callers.
#[support::test]
fn all_callers_share_the_concurrency_limit_of_an_item() {
    run(async {
        let turns = Arc::new(Turns { begun: Semaphore::new(0), go: Semaphore::new(0) });
        let server = mcp_runtime::server!().items(items![alone]).state(turns.clone());
        let router = server.into_router().await.unwrap().layer(from_fn(sign_in));
        let app = Application::start(router).await;
        let call = |user| by(Some(user), plain_call(1, "alone", json!({})));
        let address = app.address;
        let first = tokio::spawn(async move { call("ada").ask(address).await.text() });
        turns.begun.acquire().await.unwrap().forget();
        let busy = "a call of `alone` is running already: wait until it has ended";
        assert_eq!(call("grace").ask(address).await.text(), busy);
        turns.go.add_permits(2);
        assert_eq!(first.await.unwrap(), "done");
        assert_eq!(call("grace").ask(address).await.text(), "done");
        app.end().await;
    });
}

#[support::test]
fn refusals_of_the_transport_are_counted() {
    let limits = Limits::new().sessions(1).message(2000).depth(20).events(2).head(4000);
    run(serving(server().limits(limits), async |address| {
        let session = Session::begin(address, "2025-11-25").await;
        crate::client::initialize("2025-11-25").ask(address).await.check_busy("sessions");
        let long = call(1, "once", json!({})).padded(3000).ask(address).await;
        assert_eq!(long.status(), 413);
        let deep = format!("{}{}", "[".repeat(30), "]".repeat(30));
        assert_eq!(Request::post(deep).ask(address).await.status(), 400);
        let mut stream = session.call(1, "count", json!({})).open(address).await.check_events();
        let first = stream.event().await.and_then(|event| event.id).expect("an event with a name");
        stream.rest().await;
        assert_eq!(session.resume(&first).ask(address).await.status(), 400);
        // An attempt to resume after an event that never existed does not count as refused by a limit. Neither does an attempt that
        // succeeds because the event is still kept.
        assert_eq!(session.resume("7-1").ask(address).await.status(), 400);
        let last = stream.last.clone().expect("an event with a name");
        assert_eq!(session.resume(&last).ask(address).await.status(), 200);
        // Both heads are too long. The second one is so long that the server rejects it before there is a request to handle.
        for length in [5_000, 50_000] {
            let long = call(1, "once", json!({})).header("X-Long", "x".repeat(length));
            assert_eq!(long.ask(address).await.status(), 431);
        }
        let counted = plain_call(1, "refused", json!({})).ask(address).await.text();
        assert_eq!(counted, "message 1, depth 1, events 1, sessions 1, head 2");
    }));
}
