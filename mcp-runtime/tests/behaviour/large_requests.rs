//! Large requests over a stream of lines, as on stdio: they count against the limit until their calls end.

use mcp_runtime::{items, limits::Limits, prelude::*, server};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    sync::Notify,
    time::timeout,
};

use crate::support::LIMIT;

/// Holds a text until `end` is called.
#[tool]
async fn keep(text: String, end: &Notify) -> usize {
    end.notified().await;
    text.len()
}

/// Ends one call of `keep`.
#[tool]
fn end(end: &Notify) {
    end.notify_one();
}

fn call(id: u32, tool: &str, arguments: Value) -> String {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "name": tool, "arguments": arguments, "_meta": meta });
    let call = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
    format!("{call}\n")
}

/// The clock is paused, so the timeout for a missing answer takes no real time.
#[tokio::test(start_paused = true)]
async fn a_large_request_counts_over_any_stream_until_its_call_ends() {
    let limits = Limits::new().all_bodies(1 << 20);
    let server = server!().items(items![keep, end]).state(Notify::new()).limits(limits);
    let (client, io) = tokio::io::duplex(4 << 20);
    let (input, output) = tokio::io::split(io);
    let serving = tokio::spawn(server.serve(input, output));
    let (answers, mut requests) = tokio::io::split(client);
    let mut answers = BufReader::new(answers).lines();
    let mut answer = async || {
        let line = timeout(LIMIT, answers.next_line()).await.expect("an answer in time");
        let line = line.unwrap().expect("an answer");
        serde_json::from_str::<Value>(&line).unwrap()
    };
    let text = |bytes: usize| json!({ "text": "x".repeat(bytes) });
    // The first request stays in memory, and the second one would exceed the limit. A small request is not limited.
    for (id, bytes) in [(1, 700 << 10), (2, 700 << 10), (3, 60 << 10)] {
        requests.write_all(call(id, "keep", text(bytes)).as_bytes()).await.unwrap();
    }
    let refused = answer().await;
    let why = refused["error"]["message"].as_str().unwrap_or_default();
    assert!(refused["id"] == 2 && why.contains("too large together"), "{refused}");
    for held in [1, 3] {
        requests.write_all(call(4, "end", json!({})).as_bytes()).await.unwrap();
        let mut ids = [answer().await["id"].clone(), answer().await["id"].clone()];
        ids.sort_by_key(Value::to_string);
        assert_eq!(ids, [json!(held), json!(4)]);
    }
    requests.write_all(call(5, "end", json!({})).as_bytes()).await.unwrap();
    assert_eq!(answer().await["id"], 5);
    requests.write_all(call(6, "keep", text(700 << 10)).as_bytes()).await.unwrap();
    assert_eq!(answer().await["id"], 6, "the room has been given back");
    drop((requests, answers));
    serving.await.unwrap().unwrap();
}
