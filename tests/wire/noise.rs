//! Random lines from a client. The connection survives all of them, and the next requests are answered.

use std::{slice, sync::OnceLock, time::Duration};

use mcp_runtime::testing::TestClient;
use proptest::{
    collection::vec,
    option,
    prelude::*,
    sample::{Index, select},
};
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};
use support::schema::REVISIONS;

use crate::{block_on, replaced, server, texts};

/// Returns the messages that the clients of the transcripts send. Mutations start from these messages.
fn sent() -> &'static [String] {
    #[derive(Deserialize)]
    struct Line<'a> {
        #[serde(borrow)]
        client: Option<&'a RawValue>,
    }
    static SENT: OnceLock<Vec<String>> = OnceLock::new();
    SENT.get_or_init(|| {
        let mut sent: Vec<String> = texts()
            .iter()
            .map(|(_, _, text)| replaced(text, "2025-03-26"))
            .flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>())
            .filter_map(|line| {
                let line: Line<'_> = serde_json::from_str(&line).ok()?;
                line.client.map(|message| message.get().to_owned())
            })
            .collect();
        sent.sort();
        sent.dedup();
        sent
    })
}

/// Random change to a line that a client sends.
#[derive(Clone, Debug)]
enum Mutation {
    Cut(Index),
    Drop(Index),
    Replace(Index, u8),
    Insert(Index, Vec<u8>),
    /// Repeats the bytes between two positions.
    Double(Index, Index),
}

impl Mutation {
    fn apply(&self, line: &mut Vec<u8>) {
        let at = |index: &Index| index.index(line.len() + 1);
        match self {
            Self::Cut(to) => line.truncate(at(to)),
            Self::Drop(from) => drop(line.drain(at(from)..line.len().min(at(from) + 1))),
            Self::Replace(index, byte) => {
                let index = at(index);
                if let Some(old) = line.get_mut(index) {
                    *old = *byte;
                }
            }
            Self::Insert(index, bytes) => {
                let index = at(index);
                line.splice(index..index, bytes.iter().copied());
            }
            Self::Double(a, b) => {
                let (a, b) = (at(a).min(at(b)), at(a).max(at(b)));
                let stretch = line[a..b].to_vec();
                line.splice(b..b, stretch);
            }
        }
    }
}

/// Tokens that break JSON, or that a careless parser stumbles over.
const TOKENS: [&[u8]; 15] = [
    b"null",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"\"",
    b"\\u0000",
    b"\\ud800",
    b"1e999",
    b"-",
    b"\xff",
    b"{\"a\":1}",
    b"[[[[[[[[",
];

/// Names of members that have a meaning in the protocol.
const NAMES: [&str; 18] = [
    "jsonrpc",
    "id",
    "method",
    "params",
    "result",
    "error",
    "_meta",
    "name",
    "arguments",
    "uri",
    "cursor",
    "ref",
    "notifications",
    "progressToken",
    "requestId",
    "level",
    "io.modelcontextprotocol/protocolVersion",
    "io.modelcontextprotocol/clientCapabilities",
];

/// Texts that have a meaning in the protocol or on the server.
const TEXTS: [&str; 16] = [
    "2.0",
    "tools/call",
    "tools/list",
    "resources/read",
    "text",
    "prompts/get",
    "completion/complete",
    "subscriptions/listen",
    "server/discover",
    "notifications/cancelled",
    "initialize",
    "2026-07-28",
    "2025-03-26",
    "crash",
    "greet",
    "note://1",
];

fn mutation() -> impl Strategy<Value = Mutation> {
    let token = select(&TOKENS[..]);
    prop_oneof![
        any::<Index>().prop_map(Mutation::Cut),
        any::<Index>().prop_map(Mutation::Drop),
        (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Mutation::Replace(at, byte)),
        (any::<Index>(), token).prop_map(|(at, token)| Mutation::Insert(at, token.to_vec())),
        (any::<Index>(), any::<Index>()).prop_map(|(a, b)| Mutation::Double(a, b)),
    ]
}

/// Generates JSON from `NAMES` and `TEXTS`.
fn json_like() -> impl Strategy<Value = String> {
    let name = select(&NAMES[..]);
    let text = select(&TEXTS[..]);
    let leaf = prop_oneof![
        3 => text.prop_map(|text| json!(text).to_string()),
        1 => any::<i64>().prop_map(|number| number.to_string()),
        1 => any::<f64>().prop_map(|number| json!(number).to_string()),
        1 => any::<bool>().prop_map(|value| value.to_string()),
        1 => "\\PC{0,8}".prop_map(|text| json!(text).to_string()),
        1 => Just("null".to_owned()),
    ];
    leaf.prop_recursive(5, 40, 8, move |inner| {
        // An object may have the same member twice, so the text is built without a map.
        let member = (name.clone(), inner.clone())
            .prop_map(|(name, value)| format!("{}:{value}", json!(name)));
        prop_oneof![
            3 => vec(member, 0..8).prop_map(|members| format!("{{{}}}", members.join(","))),
            1 => vec(inner, 0..4).prop_map(|elements| format!("[{}]", elements.join(","))),
        ]
    })
}

fn line() -> impl Strategy<Value = Vec<u8>> {
    let mutated = (any::<Index>(), vec(mutation(), 0..4)).prop_map(|(index, mutations)| {
        let mut line = index.get(sent()).clone().into_bytes();
        mutations.iter().for_each(|mutation| mutation.apply(&mut line));
        line
    });
    let line = prop_oneof![
        4 => mutated,
        2 => json_like().prop_map(String::into_bytes),
        1 => vec(any::<u8>(), 0..40),
    ];
    // A newline ends a line, so a line cannot contain one.
    line.prop_map(|line| line.into_iter().filter(|byte| *byte != b'\n').collect())
}

/// Sends all lines and then a request of each protocol era. Returns all answers.
async fn answers(revision: Option<&str>, lines: &[Vec<u8>]) -> Vec<Value> {
    let mut client = TestClient::bare(server::named("fixture")).await.expect("the server starts");
    if let Some(revision) = revision {
        let info = json!({ "name": "noise", "version": "0" });
        let params = json!({ "protocolVersion": revision, "capabilities": {}, "clientInfo": info });
        let hello =
            json!({ "jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": params });
        client.send_raw(hello.to_string().as_bytes());
    }
    lines.iter().for_each(|line| client.send_raw(line));
    client.send_raw(br#"{"jsonrpc":"2.0","id":"old era","method":"ping"}"#);
    let envelope = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let discover = json!({
        "jsonrpc": "2.0",
        "id": "new era",
        "method": "server/discover",
        "params": { "_meta": envelope },
    });
    client.send_raw(discover.to_string().as_bytes());
    let mut answers = Vec::new();
    while let Some(line) = client.receive_raw(Duration::from_secs(5)).await {
        let answer = serde_json::from_slice(&line);
        answers.push(answer.unwrap_or_else(|error| {
            panic!("not JSON: {error}: {}", String::from_utf8_lossy(&line))
        }));
    }
    answers
}

proptest! {
    #[test]
    fn no_line_ends_a_connection(
        revision in option::of(select(&REVISIONS[..])),
        lines in vec(line(), 1..12),
    ) {
        let answers = block_on(answers(revision, &lines));
        for id in ["old era", "new era"] {
            let answered: Vec<_> = answers.iter().filter(|answer| answer["id"] == id).collect();
            prop_assert_eq!(answered.len(), 1, "{:?}", answers);
            prop_assert!(answered[0].get("result").is_some(), "{:?}", answered);
        }
        let one = |answer| slice::from_ref::<Value>(answer);
        for answer in answers.iter().flat_map(|answer| answer.as_array().map_or(one(answer), Vec::as_slice)) {
            prop_assert_eq!(&answer["jsonrpc"], "2.0");
            let is_response = answer.get("result").is_some() != answer.get("error").is_some();
            prop_assert!(is_response != answer.get("method").is_some(), "{}", answer);
        }
    }
}
