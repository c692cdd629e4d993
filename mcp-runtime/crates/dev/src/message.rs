//! JSON-RPC messages, and the answers that `dev` gives or changes.

use serde_json::{Map, Value, json};

/// Beginning of the ids of own requests. No client chooses them.
const OWN: &str = "mcp-runtime-dev/";

/// Notifications that a list has changed, each with the member of the capabilities and of a listen request.
pub(crate) const LISTS: [(&str, &str, &str); 3] = [
    ("notifications/tools/list_changed", "tools", "toolsListChanged"),
    ("notifications/prompts/list_changed", "prompts", "promptsListChanged"),
    ("notifications/resources/list_changed", "resources", "resourcesListChanged"),
];

/// Member of the `_meta` of each request of revision 2026-07-28.
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// Member of the `_meta` of notifications on a listen stream.
pub(crate) const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// First message of a listen stream.
pub(crate) const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";

/// Kind of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MessageKind {
    Request,
    Notification,
    Response,
}

/// Whether JSON is a message or a batch of them.
pub(crate) fn is_message(json: &Value) -> bool {
    match json {
        Value::Array(batch) => !batch.is_empty() && batch.iter().all(Value::is_object),
        json => ["method", "result", "error"].iter().any(|member| json.get(member).is_some()),
    }
}

pub(crate) fn kind(message: &Value) -> MessageKind {
    match (message.get("method").is_some(), message.get("id").is_some()) {
        (true, true) => MessageKind::Request,
        (true, false) => MessageKind::Notification,
        (false, _) => MessageKind::Response,
    }
}

pub(crate) fn method(message: &Value) -> &str {
    message["method"].as_str().unwrap_or_default()
}

/// Key of an id in tables, which tells the text `1` from the number 1.
pub(crate) fn key(id: &Value) -> String {
    id.to_string()
}

/// Whether a message belongs to revision 2026-07-28.
pub(crate) fn is_modern(request: &Value) -> bool {
    request["params"]["_meta"].get(VERSION).is_some()
}

/// Whether a request runs code of the author. Such a request waits for a build, because the change may concern this code.
pub(crate) fn runs_code(method: &str) -> bool {
    matches!(method, "tools/call" | "prompts/get" | "resources/read" | "completion/complete")
}

/// Whether a retired server may still send this notification: it belongs to a running call.
pub(crate) fn belongs_to_call(notification: &Value) -> bool {
    let method = method(notification);
    let is_of_call =
        ["notifications/progress", "notifications/message", "notifications/elicitation/complete"];
    is_of_call.contains(&method) && notification["params"]["_meta"].get(SUBSCRIPTION).is_none()
}

pub(crate) fn own_request(number: u64, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": format!("{OWN}{number}"), "method": method, "params": params })
}

/// Returns a request that every server answers with a result or an error, even before a session.
pub(crate) fn ping(number: u64) -> Value {
    own_request(number, "ping", json!({}))
}

pub(crate) fn is_own(id: &Value) -> bool {
    id.as_str().is_some_and(|id| id.starts_with(OWN))
}

/// Returns a notification that a list has changed. `stream` is the id of a listen request.
pub(crate) fn list_changed(method: &str, stream: Option<&Value>) -> Value {
    let mut notification = json!({ "jsonrpc": "2.0", "method": method });
    if let Some(id) = stream {
        notification["params"] = json!({ "_meta": { SUBSCRIPTION: id } });
    }
    notification
}

/// Returns the notifications about the lists that a listen request asks for.
pub(crate) fn wanted_lists(listen: &Value) -> Vec<Value> {
    let wanted = &listen["params"]["notifications"];
    let lists = LISTS.iter().filter(|(.., flag)| wanted[*flag] == true);
    lists.map(|(method, ..)| list_changed(method, Some(&listen["id"]))).collect()
}

/// Returns the response to a request that no server can answer. If the request is a tool call, a model reads the text.
pub(crate) fn failure(request: &Value, text: &str) -> Value {
    let id = &request["id"];
    if method(request) != "tools/call" {
        let error = json!({ "code": -32603, "message": text });
        return json!({ "jsonrpc": "2.0", "id": id, "error": error });
    }
    let mut result = json!({ "content": [{ "type": "text", "text": text }], "isError": true });
    if is_modern(request) {
        result["resultType"] = "complete".into();
    }
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

/// Changes the response of a server, so that the client expects changes. The server declares that its lists may change, clients must not
/// cache its results, and a list of a feature that the server lacks is empty.
pub(crate) fn adapt(request: &Value, answer: &mut Value) {
    let method = method(request);
    if answer["error"]["code"] == -32601
        && let Some(list) = empty_list(method, is_modern(request))
        && let Some(answer) = answer.as_object_mut()
    {
        answer.remove("error");
        answer.insert("result".to_owned(), list);
    }
    let Some(result) = answer.get_mut("result").and_then(Value::as_object_mut) else { return };
    if let Some(time) = result.get_mut("ttlMs") {
        *time = 0.into();
    }
    if matches!(method, "initialize" | "server/discover") {
        let capabilities = result.entry("capabilities").or_insert_with(|| Map::new().into());
        for (_, list, _) in LISTS {
            capabilities[list]["listChanged"] = true.into();
        }
    }
}

fn empty_list(method: &str, is_modern: bool) -> Option<Value> {
    let member = match method {
        "tools/list" => "tools",
        "prompts/list" => "prompts",
        "resources/list" => "resources",
        "resources/templates/list" => "resourceTemplates",
        _ => return None,
    };
    let mut result = json!({ member: [] });
    if is_modern {
        result["resultType"] = "complete".into();
        result["ttlMs"] = 0.into();
        result["cacheScope"] = "private".into();
    }
    Some(result)
}

/// Changes the acknowledgement of a listen stream: each list that the client has asked for may change.
pub(crate) fn acknowledge(listen: &Value, notification: &mut Value) {
    for (.., flag) in LISTS {
        if listen["params"]["notifications"][flag] == true {
            notification["params"]["notifications"][flag] = true.into();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(method: &str, is_modern: bool) -> Value {
        let meta = if is_modern { json!({ VERSION: "2026-07-28" }) } else { json!({}) };
        json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": { "_meta": meta } })
    }

    #[test]
    fn a_server_without_prompts_has_an_empty_list_of_them() {
        let unknown = json!({ "id": 1, "error": { "code": -32601, "message": "unknown" } });
        let mut answer = unknown.clone();
        adapt(&request("prompts/list", false), &mut answer);
        assert_eq!(answer, json!({ "id": 1, "result": { "prompts": [] } }));
        let mut answer = unknown.clone();
        adapt(&request("prompts/list", true), &mut answer);
        assert_eq!(answer["result"]["resultType"], "complete");
        let mut answer = unknown.clone();
        adapt(&request("tasks/list", true), &mut answer);
        assert_eq!(answer, unknown);
    }

    #[test]
    fn clients_expect_that_lists_change() {
        let capabilities = json!({ "resources": { "subscribe": true } });
        let mut answer = json!({ "id": 1, "result": { "capabilities": capabilities } });
        adapt(&request("initialize", false), &mut answer);
        let changes = json!({ "listChanged": true });
        let resources = json!({ "subscribe": true, "listChanged": true });
        let expected = json!({ "tools": changes, "prompts": changes, "resources": resources });
        assert_eq!(answer["result"]["capabilities"], expected);
        let mut answer = json!({ "id": 1, "result": { "tools": [], "ttlMs": 60_000 } });
        adapt(&request("tools/list", true), &mut answer);
        assert_eq!(answer["result"]["ttlMs"], 0);
    }

    #[test]
    fn only_objects_of_the_protocol_are_messages() {
        for text in ["5", "null", "{}", "[]", "[5]", r#"{ "id": 1 }"#] {
            assert!(!is_message(&serde_json::from_str(text).unwrap()), "{text}");
        }
        for text in [r#"{ "method": "ping" }"#, r#"[{ "id": 1, "result": {} }]"#] {
            assert!(is_message(&serde_json::from_str(text).unwrap()), "{text}");
        }
    }

    #[test]
    fn only_the_failure_of_a_tool_call_is_a_result() {
        assert_eq!(failure(&request("tools/call", true), "no")["result"]["isError"], true);
        assert_eq!(failure(&request("tools/call", true), "no")["result"]["resultType"], "complete");
        assert!(failure(&request("tools/call", false), "no")["result"].get("resultType").is_none());
        assert_eq!(failure(&request("tools/list", true), "no")["error"]["message"], "no");
    }
}
