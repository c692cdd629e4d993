//! Tools that misbehave. They write nothing to the wire, and every other call is answered.

use serde_json::{Value, json};

use crate::server::{Server, call, cancelled, echo, text_of};

/// Checks the answer of the tool, the answers of other calls before, during and after that call, and the texts on stderr at the end.
#[track_caller]
fn check(tool: &str, arguments: Value, expected: &str, stderr: &[&str]) {
    let mut server = Server::start();
    server.check_echo("before");
    for message in [call("tool", tool, arguments), echo("beside")] {
        server.send(&message);
    }
    assert_eq!(text_of(&server.response("beside")), "beside");
    assert_eq!(text_of(&server.response("tool")), expected);
    server.check_echo("after");
    let ended = server.finish();
    ended.check_soon();
    assert_eq!(ended.rest, [] as [Value; 0]);
    for text in stderr {
        assert!(ended.stderr.contains(text), "{ended:?}");
    }
}

#[support::test]
fn text_that_a_tool_prints_goes_to_stderr() {
    check("print", json!({}), "printed", &["printed with a newline\n", "printed without one"]);
}

#[support::test]
fn text_that_a_child_process_prints_goes_to_stderr() {
    check("child_prints", json!({}), "the child succeeded: true", &["printed by a child\n"]);
}

#[support::test]
fn a_child_finds_nothing_on_stdin() {
    check("child_reads", json!({}), "the child read 0 bytes", &[]);
}

#[support::test]
fn a_panic_answers_its_own_call() {
    check("panic_now", json!({}), "error: the tool `panic_now` panicked", &["panicked now"]);
    check("panic_later", json!({}), "error: the tool `panic_later` panicked", &["panicked later"]);
    check(
        "panic_blocking",
        json!({}),
        "error: the tool `panic_blocking` panicked",
        &["panicked on a thread"],
    );
}

#[support::test]
fn a_panic_in_a_drop_answers_its_own_call() {
    for tool in ["throw_now", "throw_later", "throw_blocking"] {
        check(tool, json!({}), &format!("error: the tool `{tool}` panicked"), &["dropped"]);
    }
    let late = "error: the tool `oversleep_with_bomb` took longer than 200ms and was given up";
    check("oversleep_with_bomb", json!({}), late, &["dropped"]);
}

#[support::test]
fn a_call_that_takes_too_long_is_given_up() {
    for tool in ["oversleep", "oversleep_blocking"] {
        let expected = format!("error: the tool `{tool}` took longer than 200ms and was given up");
        check(tool, json!({}), &expected, &[]);
    }
}

#[support::test]
fn ten_megabytes_are_one_line() {
    check("big", json!({ "bytes": 10 << 20 }), &"x".repeat(10 << 20), &[]);
}

#[support::test]
fn the_log_goes_to_stderr() {
    check("log", json!({ "lines": 5000 }), "5000 lines logged", &["log line 4999 of 5000"]);
}

/// The server does not answer a cancelled call (rule STDIO-05), and answers all others.
#[support::test]
fn a_cancelled_call_is_stopped_and_not_answered() {
    for tool in ["spin", "spin_blocking", "hold", "stubborn"] {
        let mut server = Server::start();
        server.send(&call("tool", tool, json!({})));
        server.check_echo("beside");
        server.send(&cancelled("tool"));
        server.check_echo("after");
        let ended = server.finish();
        ended.check_soon();
        assert_eq!(ended.rest, [] as [Value; 0], "{tool}");
    }
}

/// A client may use an id again as soon as it has cancelled the call. The id then names the new call.
#[support::test]
fn the_id_of_a_cancelled_call_is_free() {
    let mut server = Server::start();
    // All messages are in one write, so that the server has read them before the handler of the first call is cancelled.
    let messages = [
        call("x", "hold", json!({})),
        cancelled("x"),
        call("x", "wait", json!({ "ms": 300 })),
        echo("beside"),
    ];
    server.write(messages.map(|message| format!("{message}\n")).concat().as_bytes());
    assert_eq!(text_of(&server.response("beside")), "beside");
    let ended = server.finish();
    ended.check_soon();
    assert_eq!(ended.rest.iter().map(text_of).collect::<Vec<_>>(), ["waited 300 ms"]);
}

#[support::test]
fn misbehaving_tools_that_run_at_once_disturb_no_other_call() {
    let mut server = Server::start();
    let tools = [
        ("print", "printed"),
        ("panic_now", "error: the tool `panic_now` panicked"),
        ("panic_later", "error: the tool `panic_later` panicked"),
        ("panic_blocking", "error: the tool `panic_blocking` panicked"),
        ("child_prints", "the child succeeded: true"),
        ("child_reads", "the child read 0 bytes"),
        ("oversleep", "error: the tool `oversleep` took longer than 200ms and was given up"),
        (
            "oversleep_blocking",
            "error: the tool `oversleep_blocking` took longer than 200ms and was given up",
        ),
    ];
    for tool in ["spin", "spin_blocking", "stubborn", "hold"] {
        server.send(&call(tool, tool, json!({})));
    }
    server.send(&call("big", "big", json!({ "bytes": 10 << 20 })));
    for round in 0..5 {
        for (tool, _) in tools {
            server.send(&call(format!("{tool} {round}"), tool, json!({})));
            server.send(&echo(&format!("echo {tool} {round}")));
        }
    }
    for round in 0..5 {
        for (tool, expected) in tools {
            let id = format!("echo {tool} {round}");
            assert_eq!(text_of(&server.response(&*id)), id);
            assert_eq!(text_of(&server.response(format!("{tool} {round}"))), expected);
        }
    }
    assert_eq!(text_of(&server.response("big")).len(), 10 << 20);
    for tool in ["spin", "spin_blocking", "stubborn", "hold"] {
        server.send(&cancelled(tool));
    }
    server.check_echo("after");
    let ended = server.finish();
    ended.check_soon();
    assert_eq!(ended.rest, [] as [Value; 0]);
}
