//! Log events of tools, sent to the client that asks for them and written to stderr.

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

#[test]
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
#[test]
fn logging_is_not_declared_with_a_subscriber_of_the_program() {
    let mut command = fixture();
    command.env("FIXTURE_SUBSCRIBER", "");
    let mut server = Server::start_as(command);
    assert_eq!(capabilities(&mut server)["logging"], Value::Null);
    server.ask("log", "log", json!({ "lines": 2 }));
    assert_eq!(server.finish().stderr, "");
}
