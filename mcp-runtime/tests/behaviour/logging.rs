//! `tracing` events of a call, sent to the client that asked for them. The process has one subscriber, so these tests look only at events
//! of the tools in this file, which no other test calls.

use std::{
    sync::{Arc, Mutex, Once},
    time::Duration,
};

use mcp_runtime::{
    items,
    logging::Level,
    prelude::*,
    server,
    testing::{Revision, TestClient},
};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tracing_subscriber::{filter::Targets, prelude::*};

use crate::support::{both_eras, capabilities, connect, hold_thread, said};

#[tool]
fn speaks() {
    tracing::trace!("a trace");
    tracing::debug!(n = 1, ok = true, float = 0.5, text = "t", list = ?[1], "a detail");
    tracing::info!("an event");
    tracing::warn!(target: "own::target", "a warning");
    tracing::error!(code = 7_u64);
}

/// Logs with the targets of the framework, of crates that it uses, and of crates of the author.
#[tool]
fn speaks_as_the_framework() {
    tracing::debug!(target: "mcp_runtime::schema", "of the framework");
    tracing::error!(target: "hyper_util::client::legacy", "of the framework");
    tracing::warn!(target: "tokio", "of the framework");
    tracing::debug!(target: "mcp_runtime_notes::store", "of the author");
    tracing::debug!(target: "reqwest::connect", "of a crate of the author's");
}

#[tool]
async fn speaks_later() {
    tracing::info!("before");
    tokio::task::yield_now().await;
    tracing::info!("after");
}

#[tool(blocking)]
fn speaks_elsewhere() {
    tracing::info!("elsewhere");
}

/// Logs in a tokio task and on a thread, with and without the scope of the call.
#[tool]
async fn speaks_in_scopes(ctx: Context) {
    tokio::spawn(async { tracing::info!("in a task of nobody") }).await.unwrap();
    let future = ctx.scope(async {
        tracing::info!("in a task");
        tokio::task::yield_now().await;
        tracing::info!("later in a task");
    });
    tokio::spawn(future).await.unwrap();
    let thread = std::thread::spawn(move || {
        let found = ctx.in_scope(|| {
            tracing::info!("on a thread");
            1
        });
        tracing::info!("on a thread, outside of the scope");
        found
    });
    assert_eq!(thread.join().unwrap(), 1);
}

/// Leaves a task behind, which logs when the test lets it.
#[tool]
fn speaks_too_late(ctx: &Context, later: &TooLate) {
    let (go, done) = (later.go.clone(), later.done.clone());
    tokio::spawn(ctx.scope(async move {
        go.notified().await;
        tracing::info!("too late");
        done.notify_one();
    }));
}

#[derive(Clone, Default)]
struct TooLate {
    go: Arc<Notify>,
    done: Arc<Notify>,
}

#[prompt]
fn speaking_prompt() -> &'static str {
    tracing::info!("prompted");
    ""
}

#[resource("speaking://")]
fn speaking_resource() -> &'static str {
    tracing::info!("read");
    ""
}

#[tool]
fn hides() -> Result<()> {
    Err(Error::internal("the password is hunter2"))
}

#[tool]
async fn holds_the_reactor() {
    // A poll that takes this long causes a warning. A longer time would not change the result.
    hold_thread(Duration::from_millis(120));
}

/// Text that the framework would have written to stderr.
static LOGGED: Mutex<Vec<u8>> = Mutex::new(Vec::new());

struct Stderr;

impl std::io::Write for Stderr {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        LOGGED.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn served() -> mcp_runtime::Builder {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let on_stderr = tracing_subscriber::fmt::layer()
            .without_time()
            .with_writer(|| Stderr)
            .with_filter(Targets::new().with_target("mcp_runtime", tracing::Level::WARN));
        let subscriber =
            tracing_subscriber::registry().with(mcp_runtime::logging::client_log()).with(on_stderr);
        tracing::subscriber::set_global_default(subscriber).unwrap();
    });
    server!().items(items![
        speaks,
        speaks_as_the_framework,
        speaks_later,
        speaks_elsewhere,
        speaks_in_scopes,
        speaking_prompt,
        speaking_resource,
        hides,
        holds_the_reactor
    ])
}

/// Returns the levels and data of the log messages that the client gets.
async fn heard(client: &mut TestClient) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    while let Some(mut notification) = client.notification(Duration::from_millis(20)).await {
        assert_eq!(notification["method"], "notifications/message");
        found.push((
            notification["params"]["level"].as_str().unwrap().to_owned(),
            notification["params"]["data"].take(),
        ));
    }
    found
}

fn of(level: &str, data: impl Into<Value>) -> (String, Value) {
    (level.to_owned(), data.into())
}

both_eras! {
    async fn events_of_a_scope_reach_the_client_from_tasks_and_threads(revision) {
        let mut client = connect(served(), revision).await;
        client.log_from(Level::Info).await.unwrap();
        said(&mut client, "speaks_in_scopes", json!({})).await;
        let expected = ["in a task", "later in a task", "on a thread"].map(|text| of("info", text));
        assert_eq!(heard(&mut client).await, expected);
    }

    async fn events_of_a_scope_reach_no_client_after_the_call_has_ended(revision) {
        let later = TooLate::default();
        let server = served().items(items![speaks_too_late]).state(later.clone());
        let mut client = connect(server, revision).await;
        client.log_from(Level::Info).await.unwrap();
        said(&mut client, "speaks_too_late", json!({})).await;
        later.go.notify_one();
        later.done.notified().await;
        assert_eq!(heard(&mut client).await, []);
    }

    async fn a_client_gets_no_log_messages_unasked(revision) {
        let mut client = connect(served(), revision).await;
        said(&mut client, "speaks", json!({})).await;
        assert_eq!(heard(&mut client).await, []);
        let found = capabilities(served(), revision).await;
        assert_eq!(found["logging"], json!({}));
    }

    async fn the_client_chooses_its_level(revision) {
        let mut client = connect(served(), revision).await;
        let detail = json!({ "message": "a detail", "n": 1, "ok": true, "float": 0.5, "text": "t", "list": "[1]" });
        let all = [
            of("debug", "a trace"), of("debug", detail), of("info", "an event"), of("warning", "a warning"),
            of("error", json!({ "code": 7 })),
        ];
        for (level, from) in
            [(Level::Debug, 0), (Level::Info, 2), (Level::Notice, 3), (Level::Warning, 3), (Level::Error, 4), (Level::Critical, 5)]
        {
            client.log_from(level).await.unwrap();
            said(&mut client, "speaks", json!({})).await;
            assert_eq!(heard(&mut client).await, all[from..], "{}", level.name());
        }
    }

    async fn events_of_the_framework_are_never_sent_to_a_client(revision) {
        let mut client = connect(served(), revision).await;
        client.log_from(Level::Debug).await.unwrap();
        said(&mut client, "speaks_as_the_framework", json!({})).await;
        let expected = [of("debug", "of the author"), of("debug", "of a crate of the author's")];
        assert_eq!(heard(&mut client).await, expected);
    }

    async fn events_come_from_wherever_the_call_runs_and_name_their_logger(revision) {
        let mut client = connect(served(), revision).await;
        client.log_from(Level::Info).await.unwrap();
        said(&mut client, "speaks_later", json!({})).await;
        assert_eq!(heard(&mut client).await, [of("info", "before"), of("info", "after")]);
        said(&mut client, "speaks_elsewhere", json!({})).await;
        assert_eq!(heard(&mut client).await, [of("info", "elsewhere")]);
        client.prompt("speaking_prompt", json!({})).await.unwrap();
        assert_eq!(heard(&mut client).await, [of("info", "prompted")]);
        client.read("speaking://").await.unwrap();
        assert_eq!(heard(&mut client).await, [of("info", "read")]);
        client.log_from(Level::Warning).await.unwrap();
        said(&mut client, "speaks", json!({})).await;
        let warning = client.notification(Duration::from_secs(5)).await.unwrap();
        assert_eq!(warning["params"]["logger"], "own::target");
    }

    async fn only_the_calling_client_gets_log_messages(revision) {
        let mut first = connect(served(), revision).await;
        let mut second = connect(served(), revision).await;
        first.log_from(Level::Debug).await.unwrap();
        second.log_from(Level::Debug).await.unwrap();
        said(&mut first, "speaks_later", json!({})).await;
        assert_eq!(heard(&mut second).await, []);
        assert_eq!(heard(&mut first).await.len(), 2);
    }

    async fn an_internal_error_is_logged_but_not_to_the_client(revision) {
        let mut client = connect(served(), revision).await;
        client.log_from(Level::Debug).await.unwrap();
        assert_eq!(client.call("hides", json!({})).await.unwrap_err().message, "internal error");
        assert_eq!(heard(&mut client).await, []);
    }

    async fn events_are_sent_under_around_too(revision) {
        let server = served().around(async |call, next| {
            tracing::info!("around");
            next.run(call).await
        });
        let mut client = connect(server, revision).await;
        client.log_from(Level::Info).await.unwrap();
        said(&mut client, "speaks_later", json!({})).await;
        assert_eq!(heard(&mut client).await, [of("info", "around"), of("info", "before"), of("info", "after")]);
    }

    async fn an_unknown_level_is_refused(revision) {
        let mut client = connect(served(), revision).await;
        let error = if revision == Revision::V2026_07_28 {
            let params = json!({ "name": "speaks", "_meta": { "io.modelcontextprotocol/logLevel": "loud" } });
            client.request("tools/call", params).await.unwrap_err()
        } else {
            client.request("logging/setLevel", json!({ "level": "loud" })).await.unwrap_err()
        };
        assert_eq!(error.code, -32602);
        assert!(error.message.starts_with("`loud` is no log level: debug, info, "), "{}", error.message);
    }
}

/// Only debug builds measure the duration of a poll, because the measurement takes time itself.
#[cfg(debug_assertions)]
#[tokio::test]
async fn a_handler_that_blocks_its_thread_is_named() {
    let mut client = connect(served(), Revision::V2026_07_28).await;
    client.log_from(Level::Warning).await.unwrap();
    said(&mut client, "holds_the_reactor", json!({})).await;
    assert_eq!(heard(&mut client).await, []);
    let logged = String::from_utf8(LOGGED.lock().unwrap().clone()).unwrap();
    let line = logged.lines().find(|line| line.contains("`holds_the_reactor` at ")).unwrap();
    assert!(line.contains("make it a plain `fn` with `blocking`"), "{line}");
}
