//! The log of a server that runs on the thread of the test, and its lines about refused requests.

use std::{
    fmt::Write as _,
    sync::{Arc, Mutex},
};

use mcp_runtime::{auth::StaticTokens, limits::Limits};
use serde_json::json;
use tracing::subscriber::DefaultGuard;
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};

use crate::{
    authorization::{Served, server, with},
    client::{Request, Session, initialize, message, modern, run},
};

/// Collects the log events of this thread, until the value is dropped.
pub(crate) struct Logged {
    lines: Lines,
    _default: DefaultGuard,
    _other: tracing::Dispatch,
}

/// Layer that collects the log events, one line each, with all fields of the event.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<String>>);

impl<S: tracing::Subscriber> Layer<S> for Lines {
    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        let mut text = self.0.lock().unwrap();
        let _ = write!(text, "{}", event.metadata().level());
        event.record(&mut |field: &tracing::field::Field, value: &dyn std::fmt::Debug| {
            let _ = write!(text, " {field}={value:?}");
        });
        text.push('\n');
    }
}

impl Logged {
    pub(crate) fn start() -> Self {
        let lines = Lines::default();
        // With only one dispatcher, tracing lets the thread that reaches a callsite first decide for all threads whether the event is
        // enabled. That thread may run a different test, whose subscriber would disable the event. With a second dispatcher, tracing asks
        // all subscribers.
        let _other = tracing::Dispatch::new(tracing_subscriber::registry());
        let subscriber = tracing_subscriber::registry().with(lines.clone());
        Self { lines, _default: tracing::subscriber::set_default(subscriber), _other }
    }

    pub(crate) fn text(&self) -> String {
        self.lines.0.lock().unwrap().clone()
    }

    /// Returns the lines since the last call, and forgets them.
    fn take(&self) -> String {
        std::mem::take(&mut self.lines.0.lock().unwrap())
    }
}

/// Checks that the request is refused with this status, and that one line of the log has the status, the reason and the request.
async fn check(logged: &Logged, served: &Served, request: Request, status: u16, reason: &str) {
    logged.take();
    let reply = request.header("X-Forwarded-For", "203.0.113.5").ask(served.address).await;
    assert_eq!(reply.status(), status, "{reason}: {reply:?}");
    let log = logged.take();
    let lines: Vec<_> = log.lines().filter(|line| line.contains("message=refused: ")).collect();
    let [line] = lines[..] else { panic!("{reason}: {log}") };
    let parts = [
        "DEBUG",
        &format!("message=refused: {reason}"),
        &format!("status={status}"),
        "client=203.0.113.5",
    ];
    for part in parts {
        assert!(line.contains(part), "{part} is missing: {line}");
    }
    assert!(!line.contains("secret"), "the query is in the log: {line}");
}

#[support::test]
fn each_refused_request_is_logged_with_its_reason_and_its_client() {
    let logged = Logged::start();
    run(async {
        let limits = Limits::new().message(2000);
        let served = Served::start(server().trust_proxy("127.0.0.1").limits(limits)).await;
        let session = Session::begin(served.address, "2025-11-25").await;
        let ping = || Request::post(message(1, "ping", json!({})).to_string());
        let list = || modern(1, "tools/list", json!({}));
        let no_session = ping().header("Mcp-Session-Id", "0".repeat(32));
        for (request, status, reason) in [
            (
                ping(),
                400,
                "the header `Mcp-Session-Id` is missing: the response to `initialize` has its value; or send `MCP-Protocol-Version: 2026-07-28`, which needs no session",
            ),
            (Request::post("{"), 400, "expected a member's name"),
            (Request::post("{}"), 400, ""),
            (list().replace("Mcp-Method", "tools/call"), 400, ""),
            (session.get().header("Last-Event-ID", "x"), 400, "the stream cannot be resumed"),
            (list().host("evil.example"), 403, "this server does not answer to the host"),
            (list().to("/nowhere?key=secret"), 404, "there is nothing here"),
            (no_session, 404, "Session not found"),
            (modern(1, "no/such", json!({})), 404, ""),
            (list().method("PUT"), 405, "this address accepts only"),
            (list().replace("Accept", "text/html"), 406, "`Accept` must name"),
            (session.get().replace("Accept", "text/html"), 406, "the answer is a"),
            (list().padded(3000), 413, "the body is longer than 2000 bytes"),
            (list().replace("Content-Type", "text/plain"), 415, "`Content-Type` must be"),
            (
                list().replace("Content-Type", "application/json; charset=latin1"),
                415,
                "`charset` in `Content-Type` must be `utf-8`",
            ),
            (list().header("Content-Encoding", "gzip"), 415, "the body must be sent without"),
        ] {
            check(&logged, &served, request, status, reason).await;
        }
        served.end().await;
    });
}

#[support::test]
fn a_refused_token_is_logged_once() {
    let logged = Logged::start();
    run(async {
        let auth = StaticTokens::new().token("a", "ada");
        let served = Served::start(server().trust_proxy("127.0.0.1").auth(auth)).await;
        check(&logged, &served, with("b", initialize("2025-11-25")), 401, "").await;
        served.end().await;
    });
}

#[support::test]
fn the_log_of_a_refusal_names_method_and_path() {
    let logged = Logged::start();
    run(async {
        let served = Served::start(server()).await;
        Request::new("GET", "/nowhere?key=secret").ask(served.address).await;
        let log = logged.text();
        for part in ["method=\"GET\"", "path=\"/nowhere\"", "client=127.0.0.1"] {
            assert!(log.contains(part), "{part} is missing: {log}");
        }
        served.end().await;
    });
}

#[support::test]
fn a_served_request_logs_no_refusal() {
    let logged = Logged::start();
    run(async {
        let served = Served::start(server()).await;
        assert_eq!(modern(1, "tools/list", json!({})).ask(served.address).await.status(), 200);
        assert!(!logged.text().contains("refused"), "{}", logged.text());
        served.end().await;
    });
}
