//! JSON-RPC messages, and the answers that `dev` gives or changes.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::{Value, json, value::RawValue};

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

/// Path of the id of the request that a notification cancels.
pub(crate) const CANCELLED_ID: &[&str] = &["params", "requestId"];

/// Kind of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MessageKind {
    Request,
    Notification,
    Response,
}

/// Message or batch, as its sender has written it. Parts that `dev` does not change keep the order of their members and the digits of their
/// numbers. A `Value` would sort the members, and round large numbers.
#[derive(Clone, Debug)]
pub(crate) struct Message(Box<RawValue>);

impl Message {
    /// Reads JSON. Returns `None` if the bytes are anything else.
    pub(crate) fn read(json: &[u8]) -> Option<Self> {
        let json = json.strip_prefix("\u{feff}".as_bytes()).unwrap_or(json);
        serde_json::from_slice(json).ok().map(Self)
    }

    pub(crate) fn text(&self) -> &str {
        self.0.get()
    }

    /// Returns the messages of a batch, or the message itself.
    pub(crate) fn members(&self) -> Vec<Self> {
        match self.batch() {
            Some(batch) => batch,
            None => vec![self.clone()],
        }
    }

    /// Returns the messages of a batch, or `None` for a single message. Only revision 2025-03-26 has batches.
    pub(crate) fn batch(&self) -> Option<Vec<Self>> {
        let batch: Vec<Box<RawValue>> = serde_json::from_str(self.text()).ok()?;
        Some(batch.into_iter().map(Self).collect())
    }

    /// Joins messages to a batch.
    pub(crate) fn of_batch(batch: &[Self]) -> Self {
        let texts: Vec<_> = batch.iter().map(Self::text).collect();
        Self(raw(format!("[{}]", texts.join(","))))
    }

    /// Whether this JSON is a message or a batch of messages.
    pub(crate) fn is_message(&self) -> bool {
        match self.batch() {
            Some(batch) => {
                !batch.is_empty() && batch.iter().all(|each| each.text().starts_with('{'))
            }
            None => ["method", "result", "error"].iter().any(|member| self.has(&[member])),
        }
    }

    pub(crate) fn kind(&self) -> MessageKind {
        match (self.has(&["method"]), self.has(&["id"])) {
            (true, true) => MessageKind::Request,
            (true, false) => MessageKind::Notification,
            (false, _) => MessageKind::Response,
        }
    }

    /// Whether this is the response to a request.
    pub(crate) fn answers(&self, request: &Self) -> bool {
        self.kind() == MessageKind::Response && self.id() == request.id()
    }

    pub(crate) fn method(&self) -> String {
        self.value(&["method"]).as_str().unwrap_or_default().to_owned()
    }

    /// Returns the id. `null` if there is none.
    pub(crate) fn id(&self) -> Value {
        self.value(&["id"])
    }

    pub(crate) fn has(&self, path: &[&str]) -> bool {
        find(&self.0, path).is_some()
    }

    /// Returns the member at a path. `null` if there is none.
    pub(crate) fn value(&self, path: &[&str]) -> Value {
        let found = find(&self.0, path);
        found.and_then(|found| serde_json::from_str(found.get()).ok()).unwrap_or_default()
    }

    /// Returns the member at a path, as it was written.
    pub(crate) fn part(&self, path: &[&str]) -> Option<Self> {
        find(&self.0, path).map(|found| Self(found.to_owned()))
    }

    /// Replaces the member at a path, or adds it.
    pub(crate) fn set(&mut self, path: &[&str], value: impl Into<Self>) {
        self.0 = raw(with(Some(&self.0), path, Some(value.into().text())));
    }

    /// Removes the member at a path.
    pub(crate) fn remove(&mut self, path: &[&str]) {
        self.0 = raw(with(Some(&self.0), path, None));
    }
}

impl From<Value> for Message {
    fn from(json: Value) -> Self {
        Self(raw(json.to_string()))
    }
}

impl PartialEq for Message {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Cow::Borrowed(self.text());
        // Some clients end a line at each of these characters, which JSON has only in strings.
        for (line_break, escape) in
            [('\u{85}', "\\u0085"), ('\u{2028}', "\\u2028"), ('\u{2029}', "\\u2029")]
        {
            if text.contains(line_break) {
                text = text.replace(line_break, escape).into();
            }
        }
        f.write_str(&text)
    }
}

/// Converts text that consists of JSON.
fn raw(json: String) -> Box<RawValue> {
    RawValue::from_string(json).unwrap_or_default()
}

/// Members of an object, in their order.
#[derive(Default)]
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'a> Members<'a> {
    /// Returns no members if the JSON is no object.
    fn of(json: &'a RawValue) -> Self {
        serde_json::from_str(json.get()).unwrap_or_default()
    }
}

impl<'a> Deserialize<'a> for Members<'a> {
    fn deserialize<D: Deserializer<'a>>(deserializer: D) -> Result<Self, D::Error> {
        struct OfObject;

        impl<'a> Visitor<'a> for OfObject {
            type Value = Members<'a>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<Members<'a>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(OfObject)
    }
}

fn find<'a>(json: &'a RawValue, path: &[&str]) -> Option<&'a RawValue> {
    let Some((name, rest)) = path.split_first() else { return Some(json) };
    let members = Members::of(json).0.into_iter().rev();
    members.into_iter().find(|member| member.0 == *name).and_then(|(_, json)| find(json, rest))
}

/// Returns the JSON with `new` as the member at a path, or without this member if `new` is `None`. Of several members with one of these
/// names, the last one counts, as for all readers of `serde_json`. The others are removed, so that no reader takes one of them.
fn with(json: Option<&RawValue>, path: &[&str], new: Option<&str>) -> String {
    let Some((name, rest)) = path.split_first() else { return new.unwrap_or("null").to_owned() };
    let members = json.map(Members::of).unwrap_or_default().0;
    let last = members.iter().rposition(|member| member.0 == *name);
    let members = members.into_iter().enumerate();
    let remaining = members.filter(|(at, member)| member.0 != *name || Some(*at) == last);
    let mut members: Vec<_> = remaining.map(|(_, member)| member).collect();
    let at = members.iter().position(|member| member.0 == *name);
    let changed = (!rest.is_empty() || new.is_some())
        .then(|| raw(with(at.map(|at| members[at].1), rest, new)));
    match (at, &changed) {
        (Some(at), Some(changed)) => members[at].1 = changed,
        (None, Some(changed)) => members.push(((*name).to_owned(), changed)),
        (Some(at), None) => drop(members.remove(at)),
        (None, None) => {}
    }
    let members = members.iter().map(|(name, json)| format!("{}:{json}", json!(name)));
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}

/// Key of an id in tables, which tells the text `1` from the number 1.
pub(crate) fn key(id: &Value) -> String {
    id.to_string()
}

/// Whether a message belongs to revision 2026-07-28.
pub(crate) fn is_modern(request: &Message) -> bool {
    request.has(&["params", "_meta", VERSION])
}

/// Whether a request runs code of the author. Such a request waits for a build, because the change may concern this code.
pub(crate) fn runs_code(method: &str) -> bool {
    matches!(method, "tools/call" | "prompts/get" | "resources/read" | "completion/complete")
}

/// Whether a retired server may still send this notification: it belongs to a running call.
pub(crate) fn belongs_to_call(notification: &Message) -> bool {
    let method = notification.method();
    let is_of_call =
        ["notifications/progress", "notifications/message", "notifications/elicitation/complete"];
    is_of_call.contains(&&*method) && !notification.has(&["params", "_meta", SUBSCRIPTION])
}

/// Whether a request can have this id. The server answers a request with another id without the id.
pub(crate) fn is_request_id(id: &Value) -> bool {
    id.is_string() || id.is_i64() || id.is_u64()
}

pub(crate) fn own_request(number: u64, method: &str, params: &Message) -> Message {
    let id = format!("{OWN}{number}");
    let mut request = Message::from(json!({ "jsonrpc": "2.0", "id": id, "method": method }));
    request.set(&["params"], params.clone());
    request
}

/// Returns a request that every server answers with a result or an error, even before a session.
pub(crate) fn ping(number: u64) -> Message {
    own_request(number, "ping", &json!({}).into())
}

pub(crate) fn is_own(id: &Value) -> bool {
    id.as_str().is_some_and(|id| id.starts_with(OWN))
}

/// Returns a notification that a list has changed. `stream` is the id of a listen request.
pub(crate) fn list_changed(method: &str, stream: Option<Message>) -> Message {
    let mut notification = Message::from(json!({ "jsonrpc": "2.0", "method": method }));
    if let Some(id) = stream {
        notification.set(&["params", "_meta", SUBSCRIPTION], id);
    }
    notification
}

/// Returns the notifications about the lists that a listen request asks for.
pub(crate) fn wanted_lists(listen: &Message) -> Vec<Message> {
    let is_wanted = |flag: &str| listen.value(&["params", "notifications", flag]) == true;
    let lists = LISTS.iter().filter(|(.., flag)| is_wanted(flag));
    lists.map(|(method, ..)| list_changed(method, listen.part(&["id"]))).collect()
}

/// Returns the response to a request that no server can answer. If the request is a tool call, a model reads the text.
pub(crate) fn failure(request: &Message, text: &str) -> Message {
    let mut answer = Message::from(json!({ "jsonrpc": "2.0" }));
    answer.set(&["id"], request.part(&["id"]).unwrap_or(Value::Null.into()));
    if request.method() != "tools/call" {
        answer.set(&["error"], json!({ "code": -32603, "message": text }));
        return answer;
    }
    let mut result = json!({ "content": [{ "type": "text", "text": text }], "isError": true });
    if is_modern(request) {
        result["resultType"] = "complete".into();
    }
    answer.set(&["result"], result);
    answer
}

/// Changes the responses of a server to these requests, so that the client expects changes. The server declares that its lists may change.
/// Clients must not cache its results. A list of a feature that the server lacks is empty.
pub(crate) fn adapt(requests: &[Message], answer: &mut Message) {
    if let Some(mut batch) = answer.batch() {
        batch.iter_mut().for_each(|answer| adapt(requests, answer));
        *answer = Message::of_batch(&batch);
    } else if let Some(request) = requests.iter().find(|request| answer.answers(request)) {
        adapt_single(request, answer);
    }
}

fn adapt_single(request: &Message, answer: &mut Message) {
    let method = request.method();
    if answer.value(&["error", "code"]) == -32601
        && let Some(list) = empty_list(&method, is_modern(request))
    {
        answer.remove(&["error"]);
        answer.set(&["result"], list);
    }
    if answer.has(&["result", "ttlMs"]) {
        answer.set(&["result", "ttlMs"], json!(0));
    }
    if matches!(&*method, "initialize" | "server/discover") && answer.has(&["result"]) {
        for (_, list, _) in LISTS {
            answer.set(&["result", "capabilities", list, "listChanged"], json!(true));
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
pub(crate) fn acknowledge(listen: &Message, notification: &mut Message) {
    for (.., flag) in LISTS {
        let path = ["params", "notifications", flag];
        if listen.value(&path) == true {
            notification.set(&path, json!(true));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(method: &str, is_modern: bool) -> Message {
        let meta = if is_modern { json!({ VERSION: "2026-07-28" }) } else { json!({}) };
        let params = json!({ "_meta": meta });
        json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).into()
    }

    /// Returns the response as it reaches the client.
    fn adapted(request: &Message, answer: &str) -> String {
        let mut answer = Message::read(answer.as_bytes()).unwrap();
        adapt(std::slice::from_ref(request), &mut answer);
        answer.to_string()
    }

    #[test]
    fn a_mark_is_skipped_and_line_breaks_are_escaped() {
        let read = Message::read("\u{feff}[\"a\u{85}b\u{2028}\u{2029}\"]".as_bytes()).unwrap();
        assert_eq!(read.to_string(), r#"["a\u0085b\u2028\u2029"]"#);
    }

    #[test]
    fn members_keep_their_order_and_numbers_their_digits() {
        let schema = r#"{"zebra":12345678901234567890123,"apple":1e400}"#;
        let sent = format!(r#"{{"result":{{"tools":[{schema}],"ttlMs":60000}},"id":1}}"#);
        let received = adapted(&request("tools/list", true), &sent);
        assert_eq!(received, format!(r#"{{"result":{{"tools":[{schema}],"ttlMs":0}},"id":1}}"#));
        assert_eq!(
            adapted(&request("tools/call", true), r#"{ "b": 1.50,"a":2 }"#),
            r#"{ "b": 1.50,"a":2 }"#
        );
        let mut message = Message::read(br#"{"a b\"":{},"id":7}"#).unwrap();
        message.set(&["id"], json!("x"));
        message.set(&["a b\"", "c"], json!(1));
        message.remove(&["none"]);
        assert_eq!(message.text(), r#"{"a b\"":{"c":1},"id":"x"}"#);
        let id = Message::read(br#"{"id":123456789012345678901234567890,"method":"x"}"#).unwrap();
        assert!(failure(&id, "no").text().contains("123456789012345678901234567890"));
    }

    #[test]
    fn the_last_of_equal_members_counts() {
        let twice = br#"{"id":1,"a":{"b":1,"b":2},"id":2,"a":{"b":3,"b":4}}"#;
        let read = || Message::read(twice).unwrap();
        let json: Value = serde_json::from_slice(twice).unwrap();
        assert_eq!((read().id(), read().value(&["a", "b"])), (json["id"].clone(), json!(4)));
        let mut changed = read();
        changed.set(&["id"], json!(7));
        changed.set(&["a", "b"], json!(5));
        assert_eq!(changed.text(), r#"{"id":7,"a":{"b":5}}"#);
        changed = read();
        changed.remove(&["id"]);
        changed.remove(&["a", "b"]);
        assert_eq!(changed.text(), r#"{"a":{}}"#);
    }

    #[test]
    fn a_server_without_prompts_has_an_empty_list_of_them() {
        let unknown = r#"{"error":{"code":-32601,"message":"unknown"},"id":1}"#;
        let answer = adapted(&request("prompts/list", false), unknown);
        assert_eq!(answer, r#"{"id":1,"result":{"prompts":[]}}"#);
        let answer = adapted(&request("prompts/list", true), unknown);
        assert!(answer.contains(r#""resultType":"complete""#), "{answer}");
        assert_eq!(adapted(&request("tasks/list", true), unknown), unknown);
    }

    #[test]
    fn clients_expect_that_lists_change() {
        let answer = r#"{"id":1,"result":{"capabilities":{"resources":{"subscribe":true}}}}"#;
        let answer = adapted(&request("initialize", false), answer);
        let changes = json!({ "listChanged": true });
        let resources = json!({ "subscribe": true, "listChanged": true });
        let expected = json!({ "tools": changes, "prompts": changes, "resources": resources });
        let answer = Message::read(answer.as_bytes()).unwrap();
        assert_eq!(answer.value(&["result", "capabilities"]), expected);
    }

    #[test]
    fn only_objects_of_the_protocol_are_messages() {
        for text in ["5", "null", "{}", "[]", "[5]", r#"{ "id": 1 }"#] {
            assert!(!Message::read(text.as_bytes()).unwrap().is_message(), "{text}");
        }
        for text in [r#"{ "method": "ping" }"#, r#"[{ "id": 1, "result": {} }]"#] {
            assert!(Message::read(text.as_bytes()).unwrap().is_message(), "{text}");
        }
        for text in ["", "{", "{\"a\":1} 2", "\u{ff}"] {
            assert!(Message::read(text.as_bytes()).is_none(), "{text}");
        }
    }

    #[test]
    fn only_the_failure_of_a_tool_call_is_a_result() {
        let failed = |method, is_modern, path: &[&str]| {
            failure(&request(method, is_modern), "no").value(path)
        };
        assert_eq!(failed("tools/call", true, &["result", "isError"]), true);
        assert_eq!(failed("tools/call", true, &["result", "resultType"]), "complete");
        assert_eq!(failed("tools/call", false, &["result", "resultType"]), Value::Null);
        assert_eq!(failed("tools/list", true, &["error", "message"]), "no");
    }
}
