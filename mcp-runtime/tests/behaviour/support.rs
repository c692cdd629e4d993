use std::time::Duration;

use mcp_runtime::{
    Builder,
    testing::{Revision, TestClient},
};
use serde_json::Value;

/// Runs each test twice: once with a client that makes a handshake, and once with a client that makes none.
macro_rules! both_eras {
    ($($(#[$attr:meta])* async fn $name:ident($revision:ident) $body:block)*) => {$(
        async fn $name($revision: mcp_runtime::testing::Revision) $body

        mod $name {
            use mcp_runtime::testing::Revision;

            #[tokio::test]
            $(#[$attr])*
            async fn legacy() {
                super::$name(Revision::V2025_11_25).await;
            }

            #[tokio::test]
            $(#[$attr])*
            async fn modern() {
                super::$name(Revision::V2026_07_28).await;
            }
        }
    )*};
}
pub(crate) use both_eras;

/// Like `both_eras!`, on tokio's paused clock, where waiting takes no real time.
macro_rules! both_eras_paused {
    ($(async fn $name:ident($revision:ident) $body:block)*) => {$(
        async fn $name($revision: mcp_runtime::testing::Revision) $body

        mod $name {
            use mcp_runtime::testing::Revision;

            #[tokio::test(start_paused = true)]
            async fn legacy() {
                super::$name(Revision::V2025_11_25).await;
            }

            #[tokio::test(start_paused = true)]
            async fn modern() {
                super::$name(Revision::V2026_07_28).await;
            }
        }
    )*};
}
pub(crate) use both_eras_paused;

/// Values of `sealed` that this build supports. `true` means that the client holds the state between rounds in sealed form, and `false`
/// that the process keeps the state.
pub(crate) const SEALED: &[bool] =
    if cfg!(feature = "state-key") { &[false, true] } else { &[false] };

/// Configures where the state between rounds is kept. Without the feature `state-key`, `sealed` must be false.
pub(crate) fn keeping_state(server: Builder, sealed: bool) -> Builder {
    #[cfg(feature = "state-key")]
    if sealed {
        return server.state_key([7; 32]);
    }
    assert!(!sealed, "this build cannot seal");
    server
}

/// Time after which a test that waits for another thread counts as hanging.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// Polls until `holds` returns true, and fails after [`LIMIT`] with the text `awaited`. A fixed sleep could be too short on a busy machine.
pub(crate) async fn eventually(awaited: &str, mut holds: impl AsyncFnMut() -> bool) {
    let since = std::time::Instant::now();
    while !holds().await {
        assert!(since.elapsed() < LIMIT, "still waiting for this: {awaited}");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// Lets time pass on the paused clock. Panics if the clock is not paused, so that no test waits for real time by mistake.
pub(crate) async fn pass(time: Duration) {
    // `advance` panics if the clock is not paused.
    tokio::time::advance(Duration::ZERO).await;
    tokio::time::sleep(time).await;
}

/// Keeps a thread busy for this long, so that the server has to wait. The result of a test must not depend on the time.
pub(crate) fn hold_thread(time: Duration) {
    std::thread::sleep(time);
}

pub(crate) async fn connect(server: Builder, revision: Revision) -> TestClient {
    TestClient::connect_with(server, revision).await.expect("the server starts")
}

/// Calls a tool and returns the text of its result. The text of a failed call begins with `error: `.
pub(crate) async fn said(client: &mut TestClient, tool: &str, arguments: Value) -> String {
    let called = client.call(tool, arguments).await.expect("the call is answered");
    let mark = if called.is_error { "error: " } else { "" };
    format!("{mark}{}", called.text())
}

/// Sends a request and returns the code and message of the JSON-RPC error with which it fails.
pub(crate) async fn refused(client: &mut TestClient, method: &str, params: Value) -> (i64, String) {
    let error = client.request(method, params).await.expect_err("the request is refused");
    (error.code, error.message)
}

/// Returns the entry of this name in a list.
pub(crate) fn named<'a>(list: &'a [Value], name: &str) -> &'a Value {
    list.iter()
        .find(|entry| entry["name"] == name)
        .unwrap_or_else(|| panic!("`{name}` is in no list"))
}

/// Returns the names in a list, in its order.
pub(crate) fn names(list: &[Value]) -> Vec<&str> {
    list.iter().filter_map(|entry| entry["name"].as_str()).collect()
}

/// Returns the problems that prevent the server from starting.
pub(crate) fn problems(server: Builder) -> Vec<String> {
    server.build().expect_err("the server cannot start").problems().to_vec()
}

/// Returns the server's capabilities, as a client of this revision gets them.
pub(crate) async fn capabilities(server: Builder, revision: Revision) -> Value {
    let mut client = connect(server, revision).await;
    client.discover().await.expect("the server says what it has")["capabilities"].take()
}
