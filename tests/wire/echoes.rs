//! Errors that repeat texts of the client. The server truncates these texts, so that an answer does not grow with the request.

use std::time::Duration;

use mcp_runtime::testing::TestClient;
use serde_json::{Value, json};

use crate::{block_on, server};

/// Length in bytes of a text from the client, far beyond [`MOST`].
const LONG: usize = 1 << 16;
/// Maximum length of an answer, in bytes.
const MOST: usize = 2048;

const LEGACY: &str = "2025-11-25";

fn long() -> String {
    // Characters that JSON escapes make the echo as long as possible.
    format!("x\"{}", "\u{1}".repeat(LONG))
}

/// Returns requests with a long text in each place that an error could repeat.
fn requests() -> Vec<(&'static str, Value)> {
    let (text, key) = (long(), long());
    let note = format!("note://{text}");
    let mut named = json!({});
    named[&key] = json!(1);
    let mut nested = json!({});
    nested[&key] = json!([{}]);
    let order = |name: &str, value: Value| {
        let mut arguments = json!({ "pizza": "Funghi", "size": "small", "count": 1 });
        arguments[name] = value;
        json!({ "name": "order", "arguments": arguments })
    };
    let complete = |reference: Value| json!({ "ref": reference, "argument": { "name": "country", "value": "F" } });
    let long_argument = json!({
        "ref": { "type": "ref/prompt", "name": "trip" },
        "argument": { "name": text, "value": "F" },
    });
    let bad_context = json!({
        "ref": { "type": "ref/prompt", "name": "trip" },
        "argument": { "name": "city", "value": "F" },
        "context": { "arguments": nested },
    });
    vec![
        ("logging/setLevel", json!({ "level": text })),
        ("resources/read", json!({ "uri": note })),
        ("resources/read", json!({ "uri": format!("users://{}/profile", "a".repeat(LONG)) })),
        ("resources/subscribe", json!({ "uri": note })),
        ("tools/call", json!({ "name": text })),
        ("tools/call", order(&key, json!(1))),
        ("tools/call", order("count", json!(text))),
        ("tools/call", order("size", json!(text))),
        ("tools/call", order("extras", named.clone())),
        ("tools/call", order("extras", json!([{ "a": text }]))),
        ("tools/call", order("pizza", nested.clone())),
        ("prompts/get", json!({ "name": text })),
        ("prompts/get", json!({ "name": "greet", "arguments": nested })),
        ("prompts/get", json!({ "name": "greet", "arguments": named })),
        ("prompts/get", json!({ "name": "trip", "arguments": { "country": "a", "days": text } })),
        ("completion/complete", complete(json!({ "type": text }))),
        ("completion/complete", complete(json!({ "type": "ref/prompt", "name": text }))),
        ("completion/complete", complete(json!({ "type": "ref/resource", "uri": note }))),
        ("completion/complete", long_argument),
        ("completion/complete", bad_context),
        ("tools/list", json!({ "cursor": text })),
        ("tasks/get", json!({ "taskId": text })),
    ]
}

#[test]
fn answers_do_not_grow_with_the_texts_of_the_client() {
    block_on(async {
        let mut client = TestClient::bare(server::named("fixture")).await.expect("a server");
        let mut failures = Vec::new();
        let method = json!({ "jsonrpc": "2.0", "id": 0, "method": long() });
        failures.extend(grown(&mut client, "an unknown method", &method.to_string()).await);
        let initialize = json!({
            "protocolVersion": LEGACY,
            "capabilities": {},
            "clientInfo": { "name": "tester", "version": "0" },
        });
        let initialize =
            json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": initialize });
        client.send_raw(initialize.to_string().as_bytes());
        client.receive_raw(Duration::from_secs(10)).await.expect("an answer");
        for (at, (method, params)) in requests().into_iter().enumerate() {
            let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
            failures.extend(
                grown(&mut client, &format!("{method} ({at})"), &message.to_string()).await,
            );
            if matches!(method, "logging/setLevel" | "resources/subscribe") {
                continue;
            }
            let mut message = message;
            message["params"]["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
            });
            let what = format!("{method} ({at}) of 2026-07-28");
            failures.extend(grown(&mut client, &what, &message.to_string()).await);
        }
        let doubled = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"{0}":1,"{0}":1}}}}"#,
            "x".repeat(LONG)
        );
        failures.extend(grown(&mut client, "a name twice", &doubled).await);
        for (name, value) in [
            ("io.modelcontextprotocol/protocolVersion", json!(long())),
            ("io.modelcontextprotocol/logLevel", json!(long())),
        ] {
            let mut message =
                json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {} });
            message["params"]["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
            });
            message["params"]["_meta"][name] = value;
            failures.extend(grown(&mut client, name, &message.to_string()).await);
        }
        assert!(failures.is_empty(), "{} answers:\n{}", failures.len(), failures.join("\n"));
    });
}

/// Returns a description of the problem if the answer is missing, too long, or not an error.
async fn grown(client: &mut TestClient, what: &str, request: &str) -> Option<String> {
    client.send_raw(request.as_bytes());
    let Some(answer) = client.receive_raw(Duration::from_secs(10)).await else {
        return Some(format!("{what} is not answered"));
    };
    let start: String = String::from_utf8_lossy(&answer).chars().take(200).collect();
    let is_refused = start.contains("\"error\"") || start.contains("wrong");
    (answer.len() > MOST || !is_refused).then(|| format!("{what}: {} bytes: {start}", answer.len()))
}
