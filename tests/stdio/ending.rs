//! Shutdown of a server that is idle or has running calls. The server exits promptly at the end of stdin and at SIGTERM (rule STDIO-06).

use std::time::Duration;

use serde_json::{Value, json};
use support::clock::eventually_blocking;

use crate::server::{Ended, Server, call, echo, fixture, request, text_of};

/// Default grace period: the time that running calls have to finish after the client has disconnected.
const GRACE: Duration = Duration::from_secs(5);

fn initialize(server: &mut Server) {
    let params = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": { "name": "suite", "version": "1" },
    });
    server
        .send(&json!({ "jsonrpc": "2.0", "id": "init", "method": "initialize", "params": params }));
    assert_eq!(server.response("init")["result"]["protocolVersion"], "2025-11-25");
    server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
}

/// Starts a server and calls it once, so that later measurements do not include the start of the process.
fn started() -> Server {
    used(Server::start())
}

/// Like `started`, with the default grace period.
fn started_with_grace() -> Server {
    let mut command = fixture();
    command.env_remove("FIXTURE_GRACE");
    used(Server::start_as(command))
}

fn used(mut server: Server) -> Server {
    server.check_echo("start");
    server
}

fn terminated(server: Server) -> Ended {
    server.terminate();
    server.wait()
}

/// Runs the check with both causes of a shutdown: the end of stdin, and SIGTERM.
#[track_caller]
fn check(prepare: impl Fn(&mut Server), expected: impl Fn(&Ended)) {
    for (end, how) in [(Server::finish as fn(Server) -> Ended, "EOF"), (terminated, "SIGTERM")] {
        let mut server = started();
        prepare(&mut server);
        let ended = end(server);
        support::note!("{how}: ended after {:?}", ended.took);
        assert!(ended.status.success(), "{how}: {ended:?}");
        expected(&ended);
    }
}

#[track_caller]
fn check_given_up(ended: &Ended) {
    assert!(ended.took >= GRACE, "{ended:?}");
    assert!(
        ended.stderr.contains("calls that were still running have been cancelled: 1"),
        "{ended:?}"
    );
    assert_eq!(ended.rest, [] as [Value; 0]);
}

#[support::test]
fn an_idle_server_ends_at_once() {
    check(
        |_| {},
        |ended| {
            ended.check_soon();
            assert_eq!((&*ended.stderr, &*ended.rest), ("", &[][..]));
        },
    );
}

#[support::test]
fn a_server_without_a_request_ends_at_once() {
    let ended = Server::start().finish();
    ended.check_soon();
    assert_eq!((&*ended.stderr, &*ended.rest), ("", &[][..]));
}

#[support::test]
fn a_legacy_session_with_subscriptions_ends_at_once() {
    let prepare = |server: &mut Server| {
        initialize(server);
        let params = json!({ "uri": "notes://today" });
        server.send(
            &json!({ "jsonrpc": "2.0", "id": 1, "method": "resources/subscribe", "params": params }),
        );
        assert_eq!(server.response(1)["result"], json!({}));
    };
    check(prepare, |ended| {
        ended.check_soon();
        assert_eq!(ended.rest, [] as [Value; 0]);
    });
}

fn listen(server: &mut Server) {
    let filter = json!({ "notifications": { "resourceSubscriptions": ["notes://today"] } });
    server.send(&request("stream", "subscriptions/listen", filter));
    let first = server.message().unwrap();
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged", "{first}");
}

/// The server ends a stream with a cancellation and then the empty result (rule SUB-04).
#[support::test]
fn listen_streams_are_ended_in_the_protocols_terms() {
    check(listen, |ended| {
        ended.check_soon();
        let [cancelled, result] = &ended.rest[..] else { panic!("{ended:?}") };
        assert_eq!(cancelled["method"], "notifications/cancelled");
        assert_eq!(cancelled["params"]["requestId"], "stream");
        assert_eq!(result["id"], "stream");
        assert!(result["result"].is_object(), "{result}");
    });
}

#[support::test]
fn calls_that_run_are_finished_and_answered() {
    let prepare = |server: &mut Server| {
        server.send(&call("async", "wait", json!({ "ms": 300 })));
        server.send(&call("blocking", "wait_blocking", json!({ "ms": 300 })));
        server.send(&echo("last"));
        assert_eq!(text_of(&server.response("last")), "last");
    };
    check(prepare, |ended| {
        ended.check_soon();
        let mut texts: Vec<_> = ended.rest.iter().map(text_of).collect();
        texts.sort();
        assert_eq!(texts, ["waited 300 ms", "waited 300 ms"]);
    });
}

#[support::test]
fn a_call_that_never_ends_is_given_up_after_the_grace() {
    let ended = {
        let mut server = started_with_grace();
        server.send(&call("x", "hold", json!({})));
        server.check_echo("beside");
        server.finish()
    };
    support::note!("EOF with a call that never ends: {:?}", ended.took);
    assert!(ended.status.success(), "{ended:?}");
    check_given_up(&ended);
}

#[support::test]
fn a_thread_that_never_ends_does_not_keep_the_process_alive() {
    let mut server = started_with_grace();
    server.send(&call("x", "stubborn", json!({})));
    server.check_echo("beside");
    let ended = terminated(server);
    support::note!("SIGTERM with a thread that never ends: {:?}", ended.took);
    assert!(ended.status.success(), "{ended:?}");
    check_given_up(&ended);
}

#[support::test]
fn a_signal_is_logged_with_the_calls_that_the_server_waits_for() {
    let mut server = started();
    server.send(&call("x", "hold", json!({})));
    listen(&mut server);
    server.terminate();
    // The stream ends as soon as the server has received the signal. The second signal then ends the grace period.
    assert_eq!(server.message().unwrap()["method"], "notifications/cancelled");
    server.terminate();
    let ended = server.wait();
    assert!(ended.status.success(), "{ended:?}");
    assert!(ended.stderr.contains("stopping: waits for 1 call, at most 600s\n"), "{ended:?}");
}

/// If a server does not end soon after its stdin was closed, clients send SIGTERM, and then SIGKILL. The server therefore ends its grace
/// period at SIGTERM.
#[support::test]
fn a_signal_ends_the_grace() {
    let mut server = started();
    server.send(&call("x", "hold", json!({})));
    listen(&mut server);
    server.close_stdin();
    // The stream ends as soon as the server knows that its client has disconnected.
    assert_eq!(server.message().unwrap()["method"], "notifications/cancelled");
    server.terminate();
    let ended = server.wait();
    assert!(ended.status.success(), "{ended:?}");
    assert!(
        ended.stderr.contains("calls that were still running have been cancelled: 1"),
        "{ended:?}"
    );
}

/// The client keeps stdin open, and the call that runs is answered after the stop.
#[support::test]
fn a_program_stops_its_server() {
    let mut command = fixture();
    command.env("FIXTURE_UNTIL", "1");
    let mut server = Server::start_as(command);
    server.send(&call("running", "outlast", json!({})));
    server.send(&call("stop", "stop", json!({})));
    let ended = server.wait();
    assert!(ended.status.success(), "{ended:?}");
    let texts: Vec<_> = ended.rest.iter().map(text_of).collect();
    assert_eq!((texts, &*ended.stderr), (vec!["Done.".into(), "answered".into()], "shut down\n"));
}

/// The signal interrupts the client in the middle of a line, so the server must not report a parse error.
#[support::test]
fn an_incomplete_line_is_not_parsed_after_a_signal() {
    let mut server = started();
    server.write(b"{\"jsonrpc\":");
    server.wait_until_read();
    let ended = terminated(server);
    ended.check_soon();
    assert_eq!(ended.rest, [] as [Value; 0]);
}

/// Begins a task and returns its id. No request waits for the result yet.
fn begin(server: &mut Server, tool: &str, arguments: Value) -> Value {
    let params = json!({ "name": tool, "arguments": arguments, "task": {} });
    let call = json!({ "jsonrpc": "2.0", "id": tool, "method": "tools/call", "params": params });
    server.send(&call);
    server.response(tool)["result"]["task"]["taskId"].clone()
}

fn result_of(id: &str, task: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tasks/result", "params": { "taskId": task } })
}

/// A process on stdio has one client, which cannot come back for its tasks after it has disconnected. The server therefore does not wait
/// for these tasks.
#[support::test]
fn tasks_without_a_waiting_client_do_not_delay_the_end() {
    let prepare = |server: &mut Server| {
        initialize(server);
        for tool in ["hold_task", "stubborn_task"] {
            assert!(begin(server, tool, json!({})).is_string());
        }
    };
    check(prepare, |ended| {
        ended.check_soon();
        assert_eq!(ended.rest, [] as [Value; 0]);
    });
}

#[support::test]
fn the_result_of_a_task_is_waited_for_like_that_of_a_call() {
    let prepare = |server: &mut Server| {
        initialize(server);
        let task = begin(server, "wait_task", json!({ "ms": 300 }));
        server.send(&result_of("result", &task));
        server.check_echo("beside");
    };
    check(prepare, |ended| {
        ended.check_soon();
        let result = ended.rest.iter().find(|message| message["id"] == "result");
        assert_eq!(text_of(result.unwrap_or_else(|| panic!("{ended:?}"))), "waited 300 ms");
    });
}

#[support::test]
fn a_result_that_never_comes_is_given_up_after_the_grace() {
    let mut server = started_with_grace();
    initialize(&mut server);
    let task = begin(&mut server, "stubborn_task", json!({}));
    server.send(&result_of("result", &task));
    server.check_echo("beside");
    let ended = server.finish();
    assert!(ended.status.success(), "{ended:?}");
    check_given_up(&ended);
}

/// Calls a tool that computes on the only thread of the server.
pub(crate) fn computing(mut server: Server) -> Server {
    let mut message = call("x", "compute", json!({}));
    message["params"]["_meta"]["progressToken"] = json!("begun");
    server.send(&message);
    let begun = server.message().expect("a report");
    assert_eq!(begun["method"], "notifications/progress", "{begun}");
    server
}

/// Checks that the process ended before its handler. If it had waited for the handler, which computes for a minute, it would have exited
/// with success.
#[track_caller]
fn check_cut_off(ended: &Ended) {
    assert_eq!(ended.status.code(), Some(1), "{ended:?}");
    let said = &ended.stderr;
    assert!(said.contains("error: the tool `compute` at tests/stdio/fixture.rs:"), "{said}");
    assert!(said.contains("make it a plain `fn` with `blocking`"), "{said}");
}

#[support::test]
fn a_signal_ends_a_server_whose_handler_computes() {
    let ended = terminated(computing(started_with_grace()));
    check_cut_off(&ended);
    assert!(ended.took >= GRACE, "{ended:?}");
}

#[support::test]
fn a_second_signal_ends_a_server_whose_handler_computes_before_its_grace_is_over() {
    let mut server = computing(started());
    // The operating system merges two signals that arrive together, so the test repeats the second one.
    eventually_blocking("the server ends", || {
        server.terminate();
        server.has_ended().then_some(())
    });
    check_cut_off(&server.wait());
}

#[cfg(target_os = "linux")]
#[support::test]
fn closing_stdin_ends_a_server_whose_handler_computes() {
    let ended = computing(started_with_grace()).finish();
    check_cut_off(&ended);
    assert!(ended.took >= GRACE, "{ended:?}");
}
