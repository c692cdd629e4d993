use super::*;
use crate::clock::{Stopwatch, in_step};
use crate::http::fake::{Exchange, Fake};

fn run(text: &str, connections: Vec<Vec<Exchange>>) -> (Result<(), String>, usize) {
    let transcript = Transcript::parse("t", "2025-11-25", text).unwrap();
    in_step(async {
        let fake = Fake::start(connections).await;
        let mut stops = 0;
        let replayed = replay(&transcript, fake.address(), &mut || stops += 1).await;
        (replayed, stops)
    })
}

#[track_caller]
fn check(text: &str, connections: Vec<Vec<Exchange>>, complaint: Option<&str>) {
    match (run(text, connections).0, complaint) {
        (Ok(()), None) => {}
        (Ok(()), Some(part)) => panic!("passes, but should not: {part}"),
        (Err(error), None) => panic!("{error}"),
        (Err(error), Some(part)) => assert!(error.contains(part), "{error}"),
    }
}

const ACCEPTED: &str = "HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n";
const PONG: &str = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 36\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}";
const STREAM: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
const EVENT: &str = ":\n\nid: a-1\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n";
const PING: &str = r#"{"request": {"body": {"jsonrpc": "2.0", "id": 1, "method": "ping"}}}"#;

fn ping(rest: &str) -> String {
    format!("{PING}\n{rest}")
}

#[test]
fn a_response_as_expected_passes_and_its_connection_is_used_again() {
    let text = r#"{"response": {"status": 200, "body": {"jsonrpc": "2.0", "id": 1, "result": {}}}}
        {"request": {"body": "x", "path": "/other"}}
        {"response": {"status": 202, "headers": {"content-type": null}}}"#;
    check(&ping(text), vec![vec![("ping", &[PONG]), ("/other", &[ACCEPTED])]], None);
}

#[test]
fn a_difference_is_reported_with_its_line() {
    let text = ping(r#"{"response": {"status": 202, "headers": {"x": "y"}}}"#);
    let report = "2025-11-25/t:2: the response differs\n  status: expected 202, got 200\n  x: missing\n  $: expected nothing\n  received: \"{";
    check(&text, vec![vec![("ping", &[PONG])]], Some(report));
    let text =
        ping(r#"{"response": {"status": 200, "body": {"jsonrpc": "2.0", "id": 2, "result": {}}}}"#);
    check(
        &text,
        vec![vec![("ping", &[PONG])]],
        Some("t:2: the response differs\n  $.id: expected 2, got 1"),
    );
    check(&text, vec![vec![("ping", &["CLOSE"])]], Some("t:2: closed without a response"));
}

#[test]
fn a_stream_is_met_event_by_event() {
    let text = r#"{"response": {"status": 200, "stream": true}}
        {"comment": true}
        {"event": {"id": "a-1", "data": {"jsonrpc": "2.0", "id": 1, "result": {}}}}
        {"end": true}
        {"request": {"body": "again"}}
        {"response": {"status": 202}}"#;
    let answers = |pieces| vec![vec![("ping", pieces)], vec![("again", &[ACCEPTED][..])]];
    check(&ping(text), answers(&[STREAM, EVENT, "CLOSE"]), None);
    check(&ping(text), answers(&[STREAM, EVENT, EVENT, "CLOSE"]), Some("t:5: expected the end"));
    check(
        &ping(text),
        answers(&[STREAM, "id: b-1\ndata: {}\n\n"]),
        Some("t:3: expected a comment"),
    );
    check(&ping(text), answers(&[STREAM, ":\n", "CLOSE"]), Some("t:4: the stream ended instead"));
    check(
        &ping(text),
        answers(&[STREAM, ":\nid: b-1\ndata: {}\n\n"]),
        Some("t:4: the event differs\n  $.id: expected \"a-1\", got \"b-1\"\n  $.id: missing"),
    );
    check(&ping(text), answers(&[PONG]), Some("content-type: expected text/event-stream"));
}

#[test]
fn silence_is_met_on_a_stream_and_before_a_response() {
    let stream = r#"{"response": {"status": 200, "stream": true}}
        {"silence": true}
        {"hang_up": ""}"#;
    check(&ping(stream), vec![vec![("ping", &[STREAM, ":\n"])]], None);
    check(&ping(stream), vec![vec![("ping", &[STREAM, EVENT])]], Some("expected silence"));
    check(&ping(stream), vec![vec![("ping", &[STREAM, "CLOSE"])]], Some("expected silence"));
    let response = "{\"silence\": true}\n{\"hang_up\": \"\"}";
    check(&ping(response), vec![vec![("ping", &[])]], None);
    check(&ping(response), vec![vec![("ping", &[PONG])]], Some("expected silence"));
}

#[test]
fn a_captured_session_id_is_sent_in_later_requests() {
    const HELLO: &str = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nMcp-Session-Id: s1\r\ncontent-length: 130\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":\"hello\",\"result\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"serverInfo\":{\"name\":\"x\",\"version\":\"1\"}}}";
    let text = format!(
        "{{\"handshake\": \"session\"}}\n{}",
        ping("{\"response\": {\"status\": 202}}\n{\"stop\": true}")
    );
    let exchanges: Vec<Exchange> = vec![
        ("initialize", &[HELLO]),
        (
            "Mcp-Session-Id: s1\r\n\r\n{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}",
            &[ACCEPTED],
        ),
        ("Mcp-Session-Id: s1\r\n\r\n{\"jsonrpc\": \"2.0\", \"id\": 1", &[ACCEPTED]),
    ];
    let (replayed, stops) = run(&text, vec![exchanges]);
    assert_eq!(replayed, Ok(()));
    assert_eq!(stops, 1);
}

#[test]
fn the_schema_judges_what_the_pattern_lets_pass() {
    let text = r#"{"request": {"body": {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}}}
        {"response": {"status": 200, "body": {"$rest": true}}}"#;
    let pong = || vec![vec![("tools/list", &[PONG][..])]];
    check(text, pong(), Some("t:2: against the schema: ListToolsResult"));
    let unjudged = text.replace("true}}}", "true}}, \"schema\": false}");
    check(&unjudged, pong(), None);
    let later = format!(
        "{{\"revision\": \"2026-07-28\"}}\n{}",
        ping(r#"{"response": {"status": 200, "body": {"$rest": true}}}"#)
    );
    check(
        &later,
        vec![vec![("Mcp-Method: ping", &[PONG])]],
        Some("t:3: against the schema: JSONRPCResultResponse"),
    );
}

#[test]
fn the_clock_jumps() {
    let start = Stopwatch::start();
    check(
        &ping("{\"pass\": 3600}\n{\"response\": {\"status\": 200, \"body\": {\"$any\": true}}}"),
        vec![vec![("ping", &[PONG])]],
        None,
    );
    assert!(start.elapsed() < Duration::from_secs(3600));
}

#[test]
fn a_transcript_leaves_nothing_unread() {
    check(PING, vec![vec![("ping", &[PONG])]], Some("at the end: no line met the response"));
    check(
        &ping(PING),
        vec![vec![("ping", &[PONG])]],
        Some("t:2: a response on \"\" has not been read"),
    );
    check("{\"end\": true}", vec![], Some("t:1: nothing was sent on \"\""));
    check(
        &ping("{\"end\": true}"),
        vec![vec![("ping", &[PONG])]],
        Some("t:2: the response on \"\" has not been met"),
    );
}

#[test]
fn ids_are_new_unless_they_are_replayed() {
    let event = r#"{"event": {"id": "a-1", "data": {"$any": true}}}"#;
    let stream = r#"{"response": {"status": 200, "stream": true}}"#;
    let doubled = format!("{stream}\n{event}\n{event}");
    check(
        &ping(&doubled),
        vec![vec![("ping", &[STREAM, EVENT, EVENT])]],
        Some("t:4: the id \"a-1\" has been used before"),
    );
    let again = |header: &str| {
        let get = format!(r#"{{"request": {{"headers": {{"{header}": "a-1"}}}}}}"#);
        ping(&format!("{stream}\n{event}\n{{\"end\": true}}\n{get}\n{stream}\n{event}"))
    };
    let answers =
        || vec![vec![("ping", &[STREAM, EVENT, "CLOSE"][..])], vec![("GET", &[STREAM, EVENT])]];
    check(&again("Last-Event-ID"), answers(), None);
    check(&again("X"), answers(), Some("used before"));
    check(&again("Mcp-Session-Id"), answers(), None);
}
