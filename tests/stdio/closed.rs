//! Streams that are closed from the start, or because the client has disconnected.

use serde_json::{Value, json};
use support::clock::eventually_blocking;

use crate::server::{Server, call, echo, fixture, fixture_in_shell};

#[support::test]
fn the_server_ends_when_its_client_stops_reading() {
    let mut server = Server::start();
    drop(server.take_stdout());
    // Another test may have just forked a child, which holds a copy of the reading end until it executes its program. Until then the server
    // can still write answers, so one message may not be enough.
    eventually_blocking("the server finds that its client has gone", || {
        let _ = server.try_send(&echo("unheard"));
        server.has_ended().then_some(())
    });
    let ended = server.wait();
    ended.check_soon();
    assert_eq!(ended.stderr, "");
}

#[support::test]
fn the_server_ends_when_its_client_leaves_during_a_large_answer() {
    let mut server = Server::start();
    server.send(&call("x", "big", json!({ "bytes": 10 << 20 })));
    let mut stdout = server.take_stdout();
    std::io::Read::read_exact(&mut stdout, &mut [0; 1000]).unwrap();
    drop(stdout);
    let ended = server.wait();
    ended.check_soon();
    assert_eq!(ended.stderr, "");
}

#[support::test]
fn the_server_ends_when_its_client_leaves_during_a_call() {
    let mut server = Server::start();
    drop(server.take_stdout());
    server.send(&call("x", "wait", json!({ "ms": 200 })));
    let ended = server.finish();
    ended.check_soon();
    assert_eq!(ended.stderr, "");
}

#[support::test]
fn a_server_without_stdin_ends_at_once() {
    let ended = Server::start_as(fixture_in_shell("<&-")).wait();
    ended.check_soon();
    assert_eq!((&*ended.stderr, &*ended.rest), ("", &[][..]));
}

#[support::test]
fn a_server_without_stdout_still_runs_calls() {
    let mut server = Server::start_as(fixture_in_shell(">&-"));
    server.send(&call("x", "print", json!({})));
    let ended = server.finish();
    ended.check_soon();
    assert!(ended.stderr.contains("printed with a newline"), "{ended:?}");
    assert_eq!(ended.rest, [] as [Value; 0]);
}

/// Checks that a server whose stderr is closed answers every call and ends as usual. Only its log is lost.
#[track_caller]
fn check_unheard(mut server: Server) {
    for tool in ["panic_now", "panic_later", "panic_blocking"] {
        let expected = format!("error: the tool `{tool}` panicked");
        assert_eq!(server.ask(tool, tool, json!({})), expected);
    }
    assert_eq!(server.ask("log", "log", json!({ "lines": 5000 })), "5000 lines logged");
    server.check_echo("after");
    server.finish().check_soon();
}

#[support::test]
fn a_server_without_stderr_answers_calls() {
    let mut server = Server::start_as(fixture_in_shell("2>&-"));
    assert_eq!(server.ask("x", "print", json!({})), "printed");
    check_unheard(server);
}

#[support::test]
fn calls_are_answered_after_the_client_stops_reading_stderr() {
    let (reader, writer) = std::io::pipe().unwrap();
    let mut command = fixture();
    command.stderr(writer);
    let mut server = Server::start_as(command);
    server.check_echo("before");
    drop(reader);
    check_unheard(server);
}
