//! Log events of tools, sent to the client that asks for them and written to stderr.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::server::{Server, fixture};

fn request(id: &str, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

/// Initializes a session of 2025-11-25 and returns the capabilities of the server.
fn capabilities(server: &mut Server) -> Value {
    let info = json!({ "name": "stdio", "version": "1" });
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info });
    server.send(&request("hello", "initialize", params));
    server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    server.response("hello")["result"]["capabilities"].clone()
}

#[support::test]
fn log_events_go_to_stderr_and_to_a_client_that_asks_for_them() {
    let mut server = Server::start();
    assert_eq!(capabilities(&mut server)["logging"], json!({}));
    server.send(&request("level", "logging/setLevel", json!({ "level": "info" })));
    assert_eq!(server.response("level")["result"], json!({}));
    let params = json!({ "name": "log", "arguments": { "lines": 2 } });
    server.send(&request("log", "tools/call", params));
    for n in 0..2 {
        let said = server.message().expect("an event");
        assert_eq!(said["params"]["data"], format!("log line {n} of 2"), "{said}");
    }
    assert_eq!(server.response("log")["result"]["isError"], Value::Null);
    let ended = server.finish();
    assert!(ended.stderr.contains("log line 1 of 2\n"), "{ended:?}");
}

/// A subscriber that the program itself installed does not send events to clients, so the server does not declare the capability `logging`.
#[support::test]
fn logging_is_not_declared_with_a_subscriber_of_the_program() {
    let mut command = fixture();
    command.env("FIXTURE_SUBSCRIBER", "");
    let mut server = Server::start_as(command);
    assert_eq!(capabilities(&mut server)["logging"], Value::Null);
    server.ask("log", "log", json!({ "lines": 2 }));
    assert_eq!(server.finish().stderr, "");
}

/// Returns what a call of `log` writes to stderr with this `RUST_LOG`.
fn said(rust_log: &str) -> String {
    let mut command = fixture();
    command.args(["call", "log", "lines=1"]).env("RUST_LOG", rust_log).stdin(Stdio::null());
    let output = command.output().expect("the fixture starts");
    assert_eq!(output.stdout, b"1 lines logged\n");
    String::from_utf8(output.stderr).expect("UTF-8")
}

#[support::test]
fn a_filter_that_cannot_be_read_is_named_and_the_default_is_used() {
    for filter in ["[span]=debug", "stdio_fixture=loud"] {
        let said = said(filter);
        let (complaint, log) = said.split_once('\n').expect("two lines");
        let expected = format!(
            "RUST_LOG: `{filter}` cannot be read: write LEVEL, TARGET or TARGET=LEVEL; the log uses `info`"
        );
        assert_eq!(complaint, expected);
        assert!(log.contains("log line 0 of 1\n"), "{log}");
    }
    let misspelt =
        "RUST_LOG: `debgu` is no level, and selects a module of this name: did you mean `debug`?\n";
    assert_eq!(said("debgu"), misspelt);
    let fixture = said("stdio_fixture");
    assert!(fixture.lines().count() == 1 && fixture.contains("log line 0 of 1\n"), "{fixture}");
}

/// A panic with a backtrace takes long, because its symbols have to be resolved. The author must not look for a handler that blocks.
#[support::test]
fn a_slow_panic_is_not_reported_as_a_blocked_thread() {
    for tool in ["panic_now", "panic_later"] {
        let mut command = fixture();
        command.args(["call", tool]).env("FIXTURE_SLOW_PANIC", "").env("RUST_LOG", "info");
        let output = command.stdin(Stdio::null()).output().expect("the fixture starts");
        let expected = format!("error: the tool `{tool}` panicked\n");
        assert_eq!(String::from_utf8(output.stderr).expect("UTF-8"), expected);
    }
}
