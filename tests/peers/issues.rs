use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio},
    time::Duration,
};

use serde_json::{Value, json};
use support::{
    clock::{Stopwatch, eventually_blocking},
    examples::example,
};

use crate::{
    inspector, python,
    server::{API_KEY, Server},
    tracker::{Reply, Request, Tracker, issue},
};

/// Returns the example with short waits between its attempts. It logs everything, so that the tests see a key in the log.
fn program(url: &str) -> Command {
    let mut command = Command::new(example("issues"));
    command
        .env("ISSUES_URL", url)
        .env("ISSUES_KEY", API_KEY)
        .env("ISSUES_RETRY_DELAY", "0.001")
        .env("RUST_LOG", "trace")
        // A proxy of this machine has no way to the loopback address of the test.
        .env("NO_PROXY", "*");
    command
}

/// Runs a command of the example to its end. Neither its output nor its log has the key.
fn run(mut command: Command, arguments: &[&str]) -> (Output, String) {
    let output = command.args(arguments).stdin(Stdio::null()).output().expect("it starts");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let all = format!("{stderr}{}", String::from_utf8_lossy(&output.stdout));
    assert!(!all.contains(API_KEY), "{arguments:?}: {all}");
    (output, stderr)
}

/// Calls a tool that must succeed, and returns its result.
#[track_caller]
fn call(tracker: &Tracker, arguments: &[&str]) -> Value {
    let (output, stderr) = run(program(&tracker.url), &[&["call"], arguments].concat());
    assert!(output.status.success(), "{arguments:?}: {stderr}");
    check_key(tracker);
    serde_json::from_slice(&output.stdout).expect("the result is JSON")
}

/// Calls a tool that must fail, and returns its error.
#[track_caller]
fn failure_of(command: Command, arguments: &[&str]) -> String {
    let (output, stderr) = run(command, &[&["call"], arguments].concat());
    assert_eq!(output.status.code(), Some(1), "{arguments:?}: {stderr}");
    let error = stderr.lines().rev().find_map(|line| line.strip_prefix("error: "));
    error.unwrap_or_else(|| panic!("{stderr}")).to_owned()
}

#[track_caller]
fn failure(tracker: &Tracker, arguments: &[&str]) -> String {
    let error = failure_of(program(&tracker.url), arguments);
    check_key(tracker);
    error
}

/// Checks that every request has the key.
#[track_caller]
fn check_key(tracker: &Tracker) {
    let expected = format!("Bearer {API_KEY}");
    for request in tracker.requests() {
        assert_eq!(request.header("authorization"), Some(&*expected), "{request:?}");
    }
}

fn lines(tracker: &Tracker) -> Vec<String> {
    tracker.requests().into_iter().map(|request| request.line).collect()
}

/// Serves three pages with one issue each.
fn three_pages() -> Tracker {
    Tracker::start(|_, request| {
        let page = (1..=3).find(|page| request.line.ends_with(&format!("page={page}")));
        let page = page.unwrap_or(1);
        let reply = Reply::json(&json!([issue(page)]));
        if page == 3 {
            return reply;
        }
        let host = request.header("host").unwrap_or_default();
        let link = |page| format!("<http://{host}/api/issues?state=open&label=a,b&page={page}>");
        let links = format!(r#"{}; rel="first", {}; rel="next""#, link(1), link(page + 1));
        reply.with("link", links)
    })
}

#[support::test]
fn pages_are_read_up_to_the_limit_of_the_caller() {
    let tracker = three_pages();
    let found = call(&tracker, &["list_issues", "pages=2", "state=open", "label=a,b"]);
    let numbers = |found: &Value| {
        let issues = found["issues"].as_array().expect("a list");
        issues.iter().map(|issue| issue["number"].as_u64()).collect::<Vec<_>>()
    };
    assert_eq!(numbers(&found), [Some(1), Some(2)]);
    assert!(found["more"]["hint"].as_str().is_some_and(|hint| hint.contains("`list_issues`")));
    let cursor = found["more"]["cursor"].as_str().expect("a cursor");
    let rest = call(&tracker, &["list_issues", "pages=5", &format!("cursor={cursor}")]);
    assert_eq!((numbers(&rest), &rest["more"]), (vec![Some(3)], &Value::Null));
    let expected = [
        "GET /api/issues?per_page=50&label=a%2Cb&state=open",
        "GET /api/issues?state=open&label=a,b&page=2",
        "GET /api/issues?state=open&label=a,b&page=3",
    ];
    assert_eq!(lines(&tracker), expected);
}

/// A cursor is text from the model, which may try to send the key to another host or path.
#[support::test]
fn a_cursor_chooses_neither_the_host_nor_the_path() {
    let tracker = Tracker::start(|_, _| Reply::json(&json!([])));
    let other = Tracker::start(|_, _| Reply::json(&json!([])));
    for cursor in [&*format!("{}/issues", other.url), "//evil.example", "/../admin", "#x", "@x"] {
        call(&tracker, &["list_issues", &format!("cursor={cursor}")]);
    }
    assert_eq!(other.requests().len(), 0);
    for line in lines(&tracker) {
        assert!(line.starts_with("GET /api/issues?"), "{line}");
    }
}

#[support::test]
fn links_and_redirects_to_another_host_are_not_followed() {
    let other = Tracker::start(|_, _| Reply::json(&json!([])));
    let elsewhere = format!("{}/issues?page=2", other.url);
    for link in
        [elsewhere.clone(), "http://evil.example/api/issues?page=2".to_owned(), "/?x".into()]
    {
        let tracker = Tracker::start(move |_, _| {
            Reply::json(&json!([issue(1)])).with("link", format!(r#"<{link}>; rel="next""#))
        });
        let error = failure(&tracker, &["list_issues", "pages=2"]);
        assert_eq!(error, "the link to the next page leads out of the list: tell the user");
        assert_eq!(tracker.requests().len(), 1);
    }
    for status in [301, 302, 303, 307, 308] {
        let elsewhere = elsewhere.clone();
        let tracker =
            Tracker::start(move |_, _| Reply::status(status).with("location", &*elsewhere));
        for arguments in [&["list_issues"][..], &["add_comment", "number=1", "body=x"]] {
            let error = failure(&tracker, arguments);
            assert!(error.ends_with(": ask the user to correct ISSUES_URL"), "{error}");
        }
        assert_eq!(tracker.requests().len(), 2);
    }
    assert_eq!(other.requests().len(), 0);
}

#[support::test]
fn reading_is_repeated_until_it_succeeds() {
    let tracker = Tracker::start(|number, _| match number {
        0 => Reply::status(503),
        1 => Reply::Cut(""),
        2 => Reply::Cut("HTTP/1.1 200 \r\ncontent-length: 100\r\n\r\n[{"),
        _ => Reply::json(&issue(7)),
    });
    assert_eq!(call(&tracker, &["read_issue", "number=7"]), issue(7));
    assert_eq!(lines(&tracker), ["GET /api/issues/7"; 4]);
}

#[support::test]
fn the_number_of_attempts_is_limited() {
    for status in [429, 502, 503, 504] {
        let tracker = Tracker::start(move |_, _| Reply::status(status));
        let error = failure(&tracker, &["read_issue", "number=7"]);
        assert!(error.starts_with(&format!("the tracker answered {status} ")), "{error}");
        assert!(error.ends_with(" (attempt 4 of 4): try again later"), "{error}");
        assert_eq!(tracker.requests().len(), 4);
    }
    let error = failure_of(program("http://127.0.0.1:9"), &["list_issues"]);
    assert!(error.starts_with("the tracker cannot be reached: "), "{error}");
    assert!(error.ends_with(" (attempt 4 of 4): try again later"), "{error}");
    let tracker = Tracker::start(|_, _| Reply::status(500));
    let error = failure(&tracker, &["read_issue", "number=7"]);
    assert_eq!(error, "the tracker answered 500 Internal Server Error: tell the user");
    assert_eq!(tracker.requests().len(), 1);
}

#[support::test]
fn an_issue_is_created_with_the_same_key_in_each_attempt() {
    let tracker = Tracker::start(|number, _| match number {
        0 => Reply::Cut(""),
        1 => Reply::status(502),
        _ => Reply::json(&issue(7)),
    });
    let arguments = ["create_issue", "title=It breaks", r#"labels=["bug"]"#];
    assert_eq!(call(&tracker, &arguments), issue(7));
    assert_eq!(call(&tracker, &arguments), issue(7));
    let requests = tracker.requests();
    let keys: Vec<_> = requests.iter().map(|it| it.header("idempotency-key")).collect();
    assert!(keys[0].is_some_and(|key| key.len() == 32), "{keys:?}");
    assert_eq!((keys.len(), keys[1], keys[2]), (4, keys[0], keys[0]));
    assert_ne!(keys[3], keys[0]);
    let draft = json!({"title": "It breaks", "body": "", "labels": ["bug"]});
    let is_draft = |it: &Request| it.line == "POST /api/issues" && it.body == draft;
    assert!(requests.iter().all(is_draft), "{requests:?}");

    let tracker = Tracker::start(|_, _| Reply::Cut(""));
    let error = failure(&tracker, &arguments);
    assert!(
        error.ends_with(
            "(attempt 4 of 4): it may be done nevertheless, so look before you try again"
        )
    );
    assert_eq!(tracker.requests().len(), 4);
}

#[support::test]
fn a_comment_is_sent_only_once() {
    let may_be_done = "it may be done nevertheless, so look before you try again";
    for (reply, advice) in [
        (Reply::status(503), may_be_done),
        (Reply::Cut(""), may_be_done),
        (Reply::status(429), "try again later"),
        (Reply::status(429).with("retry-after", "30"), "try again in 30 seconds"),
    ] {
        let tracker = Tracker::start(move |_, _| reply.clone());
        let error = failure(&tracker, &["add_comment", "number=7", "body=Thanks"]);
        assert!(error.ends_with(&format!(" (attempt 1 of 1): {advice}")), "{error}");
        let [request] = &tracker.requests()[..] else { panic!("one request") };
        assert_eq!(request.line, "POST /api/issues/7/comments");
        assert_eq!(request.body, json!({"body": "Thanks"}));
        assert_eq!(request.header("idempotency-key"), None);
    }
}

#[support::test]
fn the_wait_that_the_tracker_asks_for_is_kept() {
    let tracker = Tracker::start(|number, _| match number {
        0 => Reply::status(429).with("retry-after", "1"),
        // A date in the past leaves the wait to the client.
        1 => Reply::status(503).with("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT"),
        _ => Reply::json(&issue(7)),
    });
    let watch = Stopwatch::start();
    call(&tracker, &["read_issue", "number=7"]);
    assert!(watch.elapsed() >= Duration::from_secs(1));
    assert_eq!(tracker.requests().len(), 3);
}

#[support::test]
fn the_model_waits_if_the_tracker_asks_for_a_long_wait() {
    for (after, advice) in
        [("3600", "try again in 3600 seconds"), ("Mon, 21 Oct 2999 07:28:00 GMT", "seconds")]
    {
        let tracker = Tracker::start(move |_, _| Reply::status(429).with("retry-after", after));
        let error = failure(&tracker, &["read_issue", "number=7"]);
        let start = "the tracker answered 429 Too Many Requests (attempt 1 of 4): try again in ";
        assert!(error.starts_with(start) && error.ends_with(advice), "{error}");
        assert_eq!(tracker.requests().len(), 1);
    }
}

#[support::test]
fn a_request_and_a_call_have_a_time_limit() {
    let tracker = Tracker::start(|_, _| Reply::Hang(String::new()));
    let mut command = program(&tracker.url);
    command.env("ISSUES_TIMEOUT", "0.1");
    let error = failure_of(command, &["read_issue", "number=7"]);
    assert_eq!(error, "the tracker did not answer in time (attempt 4 of 4): try again later");
    let mut command = program(&tracker.url);
    command.env("ISSUES_DEADLINE", "0.3");
    let error = failure_of(command, &["read_issue", "number=7"]);
    assert_eq!(error, "the tool `read_issue` took longer than 300ms and was given up");
}

#[support::test]
fn errors_tell_the_model_how_to_continue() {
    let list: &[&str] = &["list_issues"];
    let read: &[&str] = &["read_issue", "number=7"];
    let create: &[&str] = &["create_issue", "title=It breaks"];
    let comment: &[&str] = &["add_comment", "number=7", "body=Thanks"];
    let no_issue = "there is no issue 7: find its number with `list_issues`";
    let no_tracker = "there is no tracker at ISSUES_URL: ask the user to correct it";
    let wrong_key = "the tracker rejects the key: ask the user to correct ISSUES_KEY";
    let no_right = "the key does not permit this: ask the user to extend its rights";
    let rejected = "the tracker rejects the request: ";
    let no_json = "the tracker did not answer with the expected JSON: ";
    let wrong_field = r#"{"fields":{"title":"is taken"}}"#;
    let echo = format!(r#"{{"message":"Bearer {API_KEY} is not a key"}}"#);
    let echo_in_json = format!(r#"["{API_KEY}"]"#);
    for (status, body, arguments, problem, detail) in [
        (401, "", read, wrong_key, ""),
        (403, "", create, no_right, ""),
        (404, "", read, no_issue, ""),
        (404, "", comment, no_issue, ""),
        (404, "", list, no_tracker, ""),
        (404, "", create, no_tracker, ""),
        (422, wrong_field, create, rejected, wrong_field),
        (400, &echo, create, rejected, r#"{"message":"Bearer … is not a key"}"#),
        (200, "", read, no_json, "EOF while parsing a value at line 1 column 0"),
        (200, "<html>", list, no_json, "expected value at line 1 column 1"),
        (
            200,
            &echo_in_json,
            read,
            no_json,
            r#"invalid type: string "…", expected u64 at line 1 column 28"#,
        ),
    ] {
        let body = body.to_owned();
        let reply = move |_, _: &_| Reply::Answer(status, Vec::new(), body.clone());
        let tracker = Tracker::start(reply);
        assert_eq!(failure(&tracker, arguments), format!("{problem}{detail}"));
        assert_eq!(tracker.requests().len(), 1);
    }
    let long = json!({"message": "x".repeat(10_000)}).to_string();
    let tracker = Tracker::start(move |_, _| Reply::Answer(422, Vec::new(), long.clone()));
    assert_eq!(failure(&tracker, create).len(), 500);
}

#[support::test]
fn an_answer_that_is_too_large_is_not_read_to_its_end() {
    let tracker = Tracker::start(|_, _| {
        let head = "HTTP/1.1 200 \r\ncontent-length: 1000000000000\r\n\r\n";
        Reply::Hang(format!("{head}{}", " ".repeat(5_000_000)))
    });
    let error = failure(&tracker, &["list_issues"]);
    assert_eq!(error, "the answer of the tracker has more than 4194304 bytes: ask for less");
    assert_eq!(tracker.requests().len(), 1);
}

#[support::test]
fn wrong_settings_are_named() {
    let number = "it is not a number of seconds above 0, such as 2.5";
    for (name, value, expected) in [
        ("ISSUES_KEY", "", "`key` at examples/issues/api.rs"),
        ("ISSUES_KEY", "", "set the option `--key KEY` or the variable `ISSUES_KEY`"),
        (
            "ISSUES_KEY",
            "a\nb",
            "setup failed: ISSUES_KEY has a character that a header cannot have",
        ),
        ("ISSUES_URL", "", "set the option `--url URL` or the variable `ISSUES_URL`"),
        ("ISSUES_URL", "tracker.example", "cannot be `tracker.example`"),
        (
            "ISSUES_URL",
            "http://tracker.example",
            "setup failed: ISSUES_URL must begin with https://, to protect the key",
        ),
        ("ISSUES_TIMEOUT", "0", number),
        ("ISSUES_RETRY_DELAY", "-1", number),
    ] {
        let mut command = program("http://127.0.0.1:9");
        command.env(name, value);
        let (output, stderr) = run(command, &["call", "list_issues"]);
        assert_eq!(output.status.code(), Some(1), "{stderr}");
        assert!(stderr.contains(expected), "{name}={value}: {stderr}");
    }
    let mut command = program("http://127.0.0.1:9");
    command.env("ISSUES_DEADLINE", "soon");
    let (output, stderr) = run(command, &["list"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr.contains(&format!("ISSUES_DEADLINE is `soon`: {number}")), "{stderr}");
}

#[support::test]
fn settings_are_options_too_and_the_help_names_all_of_them() {
    let tracker = Tracker::start(|_, _| Reply::Answer(200, Vec::new(), "[]".to_owned()));
    let mut command = program("http://127.0.0.1:9");
    command.env("ISSUES_URL", "").env("ISSUES_TIMEOUT", "0");
    // A slash at the end of the URL makes no difference.
    let url = format!("{}/", tracker.url);
    let (output, stderr) = run(command, &["--url", &url, "--timeout=5", "call", "list_issues"]);
    assert!(output.status.success(), "{stderr}");
    check_key(&tracker);
    let (output, _) = run(program(&tracker.url), &["help"]);
    let help = String::from_utf8_lossy(&output.stdout).into_owned();
    for line in [
        "--url URL ",
        "; required [ISSUES_URL]",
        "; required [ISSUES_KEY]",
        "; by default 10 [ISSUES_TIMEOUT]",
        "--retry-delay RETRY_DELAY ",
    ] {
        assert!(help.contains(line), "{line}: {help}");
    }
}

#[support::test]
fn commands_that_send_no_request_need_no_settings() {
    for arguments in [&["list"][..], &["help"], &["schema"], &["check", "--strict"]] {
        let output = Command::new(example("issues")).args(arguments).output().expect("it starts");
        assert!(output.status.success(), "{arguments:?}: {output:?}");
    }
}

/// Session over stdio, for messages that no client sends at a prescribed moment.
struct Session {
    process: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Session {
    fn start(tracker: &Tracker) -> Self {
        let mut command = program(&tracker.url);
        command.env("RUST_LOG", "warn").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().expect("it starts");
        let stdin = process.stdin.take().expect("stdin is piped");
        let stdout = BufReader::new(process.stdout.take().expect("stdout is piped"));
        let mut session = Self { process, stdin, stdout };
        let info = json!({"name": "by hand", "version": "1"});
        let params =
            json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info});
        session.ask("initialize", &params);
        session
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.stdin, "{message}").expect("the server reads");
    }

    /// Sends a request, and returns the messages of the server up to the answer.
    fn ask(&mut self, method: &str, params: &Value) -> Vec<Value> {
        self.send(&json!({"jsonrpc": "2.0", "id": "last", "method": method, "params": params}));
        let mut messages: Vec<Value> = Vec::new();
        while messages.last().is_none_or(|message| message["id"] != "last") {
            let mut line = String::new();
            assert_ne!(self.stdout.read_line(&mut line).ok(), Some(0), "the server has ended");
            messages.push(serde_json::from_str(&line).expect("a line is JSON"));
        }
        messages
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[support::test]
fn a_cancelled_call_closes_its_connection() {
    let tracker = Tracker::start(|_, _| Reply::Hang(String::new()));
    let mut session = Session::start(&tracker);
    let calls = [
        json!({"name": "list_issues"}),
        json!({"name": "create_issue", "arguments": {"title": "x"}}),
    ];
    for (count, params) in (1..).zip(calls) {
        session.send(
            &json!({"jsonrpc": "2.0", "id": count, "method": "tools/call", "params": params}),
        );
        eventually_blocking("the request", || (tracker.requests().len() == count).then_some(()));
        let params = json!({"requestId": count});
        session.send(
            &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}),
        );
        eventually_blocking("the end of the connection", || {
            (tracker.abandoned() == count).then_some(())
        });
    }
    assert_eq!(session.ask("ping", &json!({})).len(), 1);
    assert_eq!(tracker.requests().len(), 2);
}

#[support::test]
fn pages_are_reported_as_progress() {
    let tracker = three_pages();
    let mut session = Session::start(&tracker);
    let call =
        json!({"name": "list_issues", "arguments": {"pages": 3}, "_meta": {"progressToken": "t"}});
    let messages = session.ask("tools/call", &call);
    let progress: Vec<_> = messages.iter().map(|it| &it["params"]["progress"]).collect();
    assert_eq!(progress, [&json!(1), &json!(2), &Value::Null], "{messages:?}");
    assert_eq!(messages[0]["params"]["total"], 3);
}

#[support::test]
fn issues_are_listed_completed_and_read_by_a_client() {
    let tracker = Tracker::start(|_, request| match &*request.line {
        "GET /api/issues/7" => Reply::json(&issue(7)),
        "GET /api/issues/8" => Reply::status(404),
        _ => Reply::json(&json!([issue(7), issue(12)])),
    });
    let template = "issue://{number}";
    let steps = [
        json!({"do": "call", "name": "list_issues"}),
        json!({"do": "complete", "template": template, "argument": "number", "value": "1"}),
        json!({"do": "read", "uri": "issue://7"}),
        json!({"do": "read", "uri": "issue://8"}),
        json!({"do": "call", "name": "read_issue", "arguments": {"number": 8}}),
    ];
    let server = || Server::new("issues").with_tracker(&tracker.url);
    for server in [server(), server().served()] {
        python::check(&server, &steps, |outcomes| {
            let contents = &outcomes[2]["result"]["contents"][0];
            outcomes[0]["result"]["structuredContent"]["issues"][1]["number"] == 12
                && outcomes[1]["result"]["values"] == json!(["12"])
                && contents["mimeType"] == "application/json"
                && contents["text"].as_str().is_some_and(|text| text.contains("\"Issue 7\""))
                && outcomes[3]["error"]["code"].is_i64()
                && python::failure(&outcomes[4]).is_some_and(|text| text.contains("`list_issues`"))
        });
    }
}

#[support::test]
fn the_inspector_accepts_the_schemas_and_calls() {
    let tracker = Tracker::start(|_, _| Reply::json(&issue(7)));
    let server = Server::new("issues").with_tracker(&tracker.url);
    inspector::list(&server);
    let call = inspector::call("read_issue", r#"{"number": 7}"#);
    inspector::check(&server, &call, 0, |answer| answer.result["structuredContent"] == issue(7));
}
