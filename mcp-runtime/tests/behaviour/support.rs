use std::time::Duration;

use mcp_runtime::{
    Builder,
    testing::{Client, Revision},
};
use serde_json::Value;

/// Runs each test once as a client with a handshake and once as one without.
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

/// The same on tokio's paused clock, where waiting costs nothing.
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

/// Whether the state of calls that ask is sealed, for each storage that this build has.
pub(crate) const SEALED: &[bool] =
    if cfg!(feature = "state-key") { &[false, true] } else { &[false] };

/// The server with one of these storages. Without the feature `state-key` there is only that of the process.
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

/// Polls until `holds` returns true, and fails after [`LIMIT`] with the text `awaited`. A sleep instead would fail on a busy machine.
pub(crate) async fn eventually(awaited: &str, mut holds: impl AsyncFnMut() -> bool) {
    let since = std::time::Instant::now();
    while !holds().await {
        assert!(since.elapsed() < LIMIT, "still waiting for this: {awaited}");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// Lets time pass on the paused clock, in a file that has tests without it too.
pub(crate) async fn pass(time: Duration) {
    // It panics where the clock is that of the machine.
    tokio::time::advance(Duration::ZERO).await;
    tokio::time::sleep(time).await;
}

/// Keeps a thread busy for this long. The result of a test must not depend on the time: it only makes the server wait.
pub(crate) fn hold_thread(time: Duration) {
    std::thread::sleep(time);
}

/// Time since 1970 by the clock of the machine.
pub(crate) fn since_1970() -> Duration {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default()
}

pub(crate) async fn connect(server: Builder, revision: Revision) -> Client {
    Client::connect_with(server, revision).await.expect("the server starts")
}

/// The text a tool answered, `error: ` before it when the tool says that it failed.
pub(crate) async fn said(client: &mut Client, tool: &str, arguments: Value) -> String {
    let called = client.call(tool, arguments).await.expect("the call is answered");
    let mark = if called.is_error { "error: " } else { "" };
    format!("{mark}{}", called.text())
}

/// The code and text of the JSON-RPC error that a request ends with.
pub(crate) async fn refused(client: &mut Client, method: &str, params: Value) -> (i64, String) {
    let error = client.request(method, params).await.expect_err("the request is refused");
    (error.code, error.message)
}

/// The entry of this name in a list.
pub(crate) fn named<'a>(list: &'a [Value], name: &str) -> &'a Value {
    list.iter().find(|it| it["name"] == name).unwrap_or_else(|| panic!("`{name}` is in no list"))
}

/// The names in a list, in its order.
pub(crate) fn names(list: &[Value]) -> Vec<&str> {
    list.iter().filter_map(|it| it["name"].as_str()).collect()
}

/// Why the server cannot start.
pub(crate) fn problems(server: Builder) -> Vec<String> {
    server.build().expect_err("the server cannot start").problems().to_vec()
}

/// The server's capabilities, in the way of the client's era.
pub(crate) async fn capabilities(server: Builder, revision: Revision) -> Value {
    let mut client = connect(server, revision).await;
    client.discover().await.expect("the server says what it has")["capabilities"].take()
}
