//! Input other than well-formed lines of JSON.

use serde_json::{Value, json};

use crate::server::{Server, call, echo, text_of};

/// Maximum size of a message: 16 MiB. The server rejects a line that is only one byte longer.
const LIMIT: usize = 16 << 20;

/// Checks the answers to these bytes, in order. An expected answer is the id of an answered `echo`, or the code of an error without an id.
#[track_caller]
fn check(bytes: &[u8], expected: &[&str]) {
    let mut server = Server::start();
    server.write(bytes);
    let ended = server.finish();
    ended.check_soon();
    // Only an exceeded limit is logged for the operator, and only once.
    let is_limited = bytes.split(|byte| *byte == b'\n').any(|line| line.len() > LIMIT);
    let said: Vec<_> =
        ended.stderr.lines().map(|line| line.contains(r#"limit="message""#)).collect();
    assert_eq!(said, vec![true; usize::from(is_limited)], "{}", ended.stderr);
    let seen: Vec<String> = ended
        .rest
        .iter()
        .map(|message| match &message["id"] {
            Value::String(id) => {
                assert_eq!(message["result"]["content"][0]["text"], **id);
                id.clone()
            }
            _ => message["error"]["code"].to_string(),
        })
        .collect();
    assert_eq!(seen, expected);
}

/// Sends the bytes between two valid lines, and checks that both valid lines are answered too.
#[track_caller]
fn check_between(bytes: &[u8], expected: &[&str]) {
    let mut all = format!("{}\n", echo("before")).into_bytes();
    all.extend_from_slice(bytes);
    all.extend_from_slice(format!("{}\n", echo("after")).as_bytes());
    let expected = [&["before"], expected, &["after"]].concat();
    check(&all, &expected);
}

#[support::test]
fn malformed_lines_are_parse_errors() {
    check_between(b"{\"jsonrpc\": \"2.0\",\n", &["-32700"]);
    check_between(b"hello\n", &["-32700"]);
    check_between(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"p\xffng\"}\n", &["-32700"]);
    check_between(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"p\0ng\"}\n", &["-32700"]);
    check_between(b"\0\n", &["-32700"]);
}

#[support::test]
fn json_that_is_not_a_message_is_an_invalid_request() {
    check_between(b"[]\n17\n", &["-32600", "-32600"]);
}

#[support::test]
fn blank_lines_and_carriage_returns_are_ignored() {
    check_between(b"\n\r\n \t\r\n\n", &[]);
    check(format!("{}\r\n{}\r\n", echo("a"), echo("b")).as_bytes(), &["a", "b"]);
}

#[support::test]
fn null_stands_for_no_params() {
    let session = [
        json!({ "jsonrpc": "2.0", "id": "first", "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "c", "version": "1" } } }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized", "params": null }),
        json!({ "jsonrpc": "2.0", "id": "ping", "method": "ping", "params": null }),
        json!({ "jsonrpc": "2.0", "id": "list", "method": "tools/list", "params": null }),
        json!({ "jsonrpc": "2.0", "id": "call", "method": "tools/call",
            "params": { "name": "print", "arguments": null, "_meta": null } }),
    ];
    let mut server = Server::start();
    session.iter().for_each(|message| server.send(message));
    assert_eq!(server.response("ping")["result"], json!({}));
    assert!(server.response("list")["result"]["tools"].is_array());
    assert_eq!(text_of(&server.response("call")), "printed");
}

/// Six public clients end a line at each of these characters, as `splitlines` of Python does.
#[support::test]
fn a_message_has_no_line_breaks_but_its_newline() {
    let breaks = "\u{85}\u{2028}\u{2029}";
    let mut server = Server::start();
    let mut answer = |request: Value| -> Vec<Value> {
        server.send(&request);
        let mut messages = Vec::new();
        while messages.last().is_none_or(|last: &Value| last["id"] != request["id"]) {
            let line = server.line().expect("an answer");
            assert!(!line.contains(['\u{85}', '\u{2028}', '\u{2029}']), "{line}");
            messages.push(serde_json::from_str(&line).expect("JSON"));
        }
        messages
    };
    let echoed = answer(echo(breaks));
    assert_eq!(text_of(&echoed[0]), breaks);
    let mut count = call("count", "count", json!({ "steps": 1 }));
    count["params"]["_meta"]["progressToken"] = json!(breaks);
    assert_eq!(answer(count)[0]["params"]["progressToken"], breaks);
}

/// Clients on .NET begin their stream with a byte order mark, and some begin each message with it.
#[support::test]
fn a_byte_order_mark_may_begin_a_message() {
    check(format!("\u{feff}{}\n", echo("a")).as_bytes(), &["a"]);
    check(format!("\u{feff}\n{}\n", echo("a")).as_bytes(), &["a"]);
    check(format!("\u{feff}{}", echo("a")).as_bytes(), &["a"]);
    check_between(format!("\u{feff}{}\r\n\u{feff}\n", echo("a")).as_bytes(), &["a"]);
    check_between(format!("\u{feff}\u{feff}{}\n", echo("a")).as_bytes(), &["-32700"]);
    check_between(format!("{}\u{feff}\n", echo("a")).as_bytes(), &["-32700"]);
}

#[support::test]
fn the_last_line_needs_no_newline() {
    check(echo("a").to_string().as_bytes(), &["a"]);
    check(format!("{}\n{}", echo("a"), echo("b")).as_bytes(), &["a", "b"]);
}

#[support::test]
fn half_a_message_at_the_end_is_a_parse_error() {
    let whole = echo("b").to_string();
    check(format!("{}\n{}", echo("a"), &whole[..whole.len() / 2]).as_bytes(), &["a", "-32700"]);
}

#[support::test]
fn a_line_that_is_too_long_is_refused_and_the_next_one_read() {
    let line = |length: usize| format!("{}\n", "x".repeat(length));
    check_between(line(LIMIT + 1).as_bytes(), &["-32600"]);
    check_between(line(3 * LIMIT).as_bytes(), &["-32600"]);
    // This line has the maximum length, so the server parses it and rejects it as invalid JSON.
    check_between(line(LIMIT).as_bytes(), &["-32700"]);
}
