//! The commands `record` and `replay`.

use std::{
    env,
    ffi::OsStr,
    fs,
    path::PathBuf,
    process::{self, Command, Output, Stdio},
    sync::atomic::{AtomicUsize, Ordering},
};

use mcp_runtime::{prelude::*, testing::assert_replays};
use serde_json::{Value, json};

use support::clock::eventually_blocking;

use crate::{
    diary,
    server::{Server, call, fixture, prepared, request, text_of},
};

/// File of a recorded session, which is removed at the end of the test.
struct Recorded(PathBuf);

impl Recorded {
    fn new() -> Self {
        static FILES: AtomicUsize = AtomicUsize::new(0);
        let number = FILES.fetch_add(1, Ordering::Relaxed);
        Self(env::temp_dir().join(format!("mcp-recorded-{}-{number}.jsonl", process::id())))
    }

    fn text(&self) -> String {
        fs::read_to_string(&self.0).expect("the file of the session")
    }

    /// Writes another text in place of a part of the file.
    #[track_caller]
    fn edit(&self, old: &str, new: &str) {
        let text = self.text();
        assert!(text.contains(old), "{text}");
        fs::write(&self.0, text.replace(old, new)).expect("the file is writable");
    }

    /// Starts a server that records.
    fn server(&self, mut command: Command) -> Server {
        command.arg("record").arg(&self.0);
        Server::start_as(command)
    }

    /// Records a session of the fixture.
    fn record(&self, session: impl FnOnce(&mut Server)) {
        self.record_as(fixture(), session);
    }

    fn record_as(&self, command: Command, session: impl FnOnce(&mut Server)) {
        let mut server = self.server(command);
        session(&mut server);
        let ended = server.finish();
        assert!(ended.status.success(), "{}", ended.stderr);
        assert!(ended.stderr.contains("the session is recorded in "), "{}", ended.stderr);
    }

    /// Replays the file. Returns stdout.
    #[track_caller]
    fn replay(&self, status: i32) -> String {
        let output = self.replayed();
        let stderr = String::from_utf8_lossy(&output.stderr);
        let stdout = String::from_utf8(output.stdout).expect("UTF-8");
        assert_eq!(output.status.code(), Some(status), "{stdout}{stderr}{}", self.text());
        stdout
    }

    fn replayed(&self) -> Output {
        fixture().arg("replay").arg(&self.0).output().expect("the fixture starts")
    }
}

impl Drop for Recorded {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn initialize(capabilities: Value) -> [Value; 2] {
    let client = json!({ "name": "test", "version": "1" });
    let params = json!({ "protocolVersion": "2025-06-18", "capabilities": capabilities, "clientInfo": client });
    [
        json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
    ]
}

#[support::test]
fn a_recorded_session_is_replayed_and_differences_are_reported() {
    let file = Recorded::new();
    file.record(|server| {
        assert_eq!(server.ask("a", "echo", json!({ "text": "one" })), "one");
        server.write(b"no message\n");
        server.send(&request("b", "tools/list", json!({})));
        server.response("b");
        assert_eq!(server.ask("c", "echo", json!({ "text": "two" })), "two");
    });
    assert_eq!(file.text().lines().count(), 9, "{}", file.text());
    assert_eq!(file.replay(0), "the server answers as recorded (8 messages)\n");

    file.edit(r#""text":"one","type":"text""#, r#""text":"once","type":"text""#);
    let told = file.replay(1);
    let expected = "line 3: the response to \"a\" (`tools/call`): `result.content[0].text` was \"once\", and is \"one\"\n";
    assert_eq!(told, expected);
    file.edit(r#""text":"once","type":"text""#, r#""text":"<removed>","type":"text""#);
    file.replay(0);
}

#[support::test]
fn a_secret_after_a_byte_order_mark_is_removed() {
    let file = Recorded::new();
    file.record(|server| {
        for id in ["a", "b"] {
            let message = call(id, "echo", json!({ "text": id, "password": "hunter2" }));
            server.write(format!("\u{feff}{message}\n").as_bytes());
            server.response(id);
        }
    });
    assert_eq!(file.text().matches("\"password\"").count(), 2, "{}", file.text());
    assert!(!file.text().contains("hunter2"), "{}", file.text());
}

#[support::test]
fn missing_and_additional_messages_are_differences() {
    let file = Recorded::new();
    file.record(|server| {
        server.ask("a", "echo", json!({ "text": "one" }));
    });
    let answer = file.text().lines().last().expect("a line").to_owned();
    file.edit(&answer, "");
    let told = file.replay(1);
    assert!(
        told.starts_with("not in the recording: the response to \"a\" (`tools/call`): {"),
        "{told}"
    );
    file.edit("\"a\"", "\"b\"");
    let request = file.text();
    fs::write(&file.0, format!("{request}{answer}\n")).unwrap();
    let told = file.replay(1);
    assert!(told.contains(": the response to \"a\" is missing\n"), "{told}");
}

/// The ids of requests of the server and states are others in each session.
#[support::test]
fn questions_are_replayed() {
    let table = json!({ "name": "Ada", "persons": 2, "size": "large" });
    let legacy = Recorded::new();
    legacy.record(|server| {
        initialize(json!({ "elicitation": {} })).iter().for_each(|message| server.send(message));
        server.response(0);
        let params = json!({ "name": "book", "arguments": {} });
        server
            .send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }));
        let question = server.message().expect("a question");
        let answer = json!({ "action": "accept", "content": table });
        server.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": answer }));
        assert_eq!(text_of(&server.response(1)), "Ada 2 large true None");
    });
    legacy.replay(0);

    let modern = Recorded::new();
    modern.record(|server| {
        let mut book = call(1, "book", json!({}));
        book["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
            json!({ "elicitation": { "form": {} } });
        server.send(&book);
        let asked = server.response(1);
        book["id"] = json!(2);
        book["params"]["requestState"] = asked["result"]["requestState"].clone();
        let answer = json!({ "action": "accept", "content": table });
        book["params"]["inputResponses"] = json!({ "table": answer });
        server.send(&book);
        assert_eq!(text_of(&server.response(2)), "Ada 2 large true None");
    });
    modern.replay(0);
}

/// The replay sends all requests at once, and the task takes its time.
#[support::test]
fn a_task_is_replayed_until_it_has_the_recorded_status() {
    let file = Recorded::new();
    file.record(|server| {
        let with_tasks = |mut request: Value| {
            request["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
                json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
            request
        };
        server.send(&with_tasks(call(0, "wait_task", json!({ "ms": 500 }))));
        let task = server.response(0)["result"]["taskId"].clone();
        let mut id = 0;
        let mut status = || {
            id += 1;
            server.send(&with_tasks(request(id, "tasks/get", json!({ "taskId": task }))));
            server.response(id)["result"].clone()
        };
        assert_eq!(status()["status"], "working");
        let result = eventually_blocking("the task is completed", || {
            Some(status()).filter(|result| result["status"] == "completed")
        });
        assert_eq!(result["result"]["content"][0]["text"], "waited 500 ms");
    });
    file.replay(0);
    file.edit("waited 500 ms", "waited 600 ms");
    let told = file.replay(1);
    assert!(told.contains("was \"waited 600 ms\", and is \"waited 500 ms\""), "{told}");
    file.edit("waited 600 ms", "waited 500 ms");
    file.edit("\"completed\"", "\"failed\"");
    let told = file.replay(1);
    assert!(told.contains("`result.status` was \"failed\", and is \"completed\""), "{told}");
}

/// The server ends its streams when the client closes stdin.
#[support::test]
fn the_end_of_an_open_stream_is_replayed() {
    let file = Recorded::new();
    file.record(|server| {
        let filter = json!({ "notifications": { "resourceSubscriptions": ["notes://today"] } });
        server.send(&request("stream", "subscriptions/listen", filter));
        let first = server.message().expect("a message");
        assert_eq!(first["method"], "notifications/subscriptions/acknowledged", "{first}");
        server.send(&call("a", "wait", json!({ "ms": 1 })));
    });
    assert!(file.text().contains("notifications/cancelled"), "{}", file.text());
    file.replay(0);
    let result =
        file.text().lines().rfind(|line| line.contains("\"id\":\"stream\"")).map(str::to_owned);
    let result = result.expect("the result of the stream");
    file.edit(&result, "");
    let told = file.replay(1);
    assert!(told.contains("not in the recording: the response to \"stream\""), "{told}");
    // A recorder that was killed has recorded none of them.
    let text = file.text();
    let cancelled = text.lines().find(|line| line.contains("notifications/cancelled"));
    file.edit(cancelled.expect("a cancellation"), "");
    file.replay(0);
}

/// Clients for .NET write the mark at the start of their stream.
#[support::test]
fn a_byte_order_mark_is_not_recorded() {
    let file = Recorded::new();
    file.record(|server| {
        let call = call(1, "echo", json!({ "text": "one", "password": "hunter22" }));
        server.write(format!("\u{feff}{call}\n").as_bytes());
        server.response(1);
    });
    let text = file.text();
    assert!(!text.contains('\u{feff}') && !text.contains("hunter22"), "{text}");
    file.replay(0);
}

#[support::test]
fn a_line_that_is_not_unicode_is_replayed_as_such() {
    let file = Recorded::new();
    file.record(|server| {
        server.write(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"a\":\"\xff\"}\n");
        assert_eq!(server.message().expect("an error")["error"]["code"], -32700);
    });
    file.replay(0);
}

#[support::test]
fn secrets_are_not_recorded() {
    let file = Recorded::new();
    let mut command = prepared(Command::new(env!("CARGO_BIN_EXE_configured-fixture")));
    command.args(["--api-key", "hunter22hunter22", "--root", "/srv", "--extension", "md"]);
    let mut server = file.server(command);
    let secrets = json!({ "password": "open", "note": "the key is hunter22hunter22" });
    server.send(&call("a", "values", secrets));
    server.response("a");
    assert_eq!(
        server.ask("b", "values", json!({})),
        "/srv 16 5 false none [\"md\"] pool of sqlite::memory:"
    );
    assert!(server.finish().status.success());
    let text = file.text();
    assert!(!text.contains("hunter22") && !text.contains("open"), "{text}");
    assert!(text.contains("\"password\":\"<removed>\""), "{text}");
    assert!(text.contains("the key is <removed>"), "{text}");
    let replay = fixture().arg("replay").arg(&file.0).output().expect("the fixture starts");
    let stderr = String::from_utf8_lossy(&replay.stderr);
    assert!(
        stderr.contains("note: the client sends `<removed>` in place of a secret in line 2:"),
        "{stderr}"
    );
}

#[support::test]
fn the_first_line_says_that_secrets_may_be_left() {
    let file = Recorded::new();
    file.record(|server| {
        server.ask("a", "echo", json!({ "text": "one" }));
    });
    let text = file.text();
    let first: Value = serde_json::from_str(text.lines().next().expect("a line")).expect("JSON");
    let comment = first["#"].as_str().expect("a comment");
    assert!(comment.contains("can still contain secrets that no rule knows"), "{comment}");
}

/// The output goes into the log of the client, so it contains no secret, and it is only for authors that ask for it.
#[support::test]
fn removed_secrets_are_counted_but_not_shown() {
    for options in [&["--show-removed"][..], &[]] {
        let file = Recorded::new();
        let mut command = fixture();
        command.arg("record").args(options).arg(&file.0);
        let mut server = Server::start_as(command);
        let secrets =
            json!({ "text": "ghp_aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5", "password": "hunter2" });
        for id in ["a", "b"] {
            server.send(&call(id, "echo", secrets.clone()));
            server.response(id);
        }
        let stderr = server.finish().stderr;
        assert!(!stderr.contains("ghp_") && !stderr.contains("hunter2"), "{stderr}");
        for line in [
            "removed from the recording: ",
            "  2 × github-token: client, params.arguments.text, 40 bytes, first in line 2\n",
            "  2 × member: client, params.arguments.password, 7 bytes, first in line 2\n",
        ] {
            assert_eq!(stderr.contains(line), !options.is_empty(), "{line}: {stderr}");
        }
    }
}

/// A recording is useful only if it is whole.
#[support::test]
fn an_ordinary_session_of_each_revision_stays_whole() {
    const LISTS: [&str; 4] =
        ["tools/list", "resources/list", "resources/templates/list", "prompts/list"];
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"] {
        let file = Recorded::new();
        file.record(|server| {
            let is_modern = revision == "2026-07-28";
            if !is_modern {
                let [mut first, second] = initialize(json!({}));
                first["params"]["protocolVersion"] = json!(revision);
                server.send(&first);
                let answer = server.response(0);
                assert_eq!(answer["result"]["protocolVersion"], revision, "{answer}");
                server.send(&second);
            }
            let mut requests = LISTS.map(|method| request(method, method, json!({}))).to_vec();
            requests.push(call("echo", "echo", json!({ "text": "The password: see page 5." })));
            for mut request in requests {
                let params = request["params"].as_object_mut().expect("parameters");
                if !is_modern {
                    params.remove("_meta");
                }
                server.send(&request);
                let id = request["id"].clone();
                assert!(server.response(id).get("result").is_some(), "{request}");
            }
        });
        assert!(!file.text().contains("<removed>"), "{revision}: {}", file.text());
        file.replay(0);
    }
}

#[support::test]
fn each_start_of_a_client_records_into_a_file_of_its_own() {
    let (first, mut files) = (Recorded::new(), Vec::new());
    fs::write(&first.0, "kept").expect("a file");
    let name = first.0.file_stem().and_then(OsStr::to_str).expect("a name").to_owned();
    for number in [2, 3] {
        let next = Recorded(first.0.with_file_name(format!("{name}-{number}.jsonl")));
        let output = fixture().arg("record").arg(&first.0).stdin(Stdio::null()).output();
        let output = output.expect("the fixture starts");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{stderr}");
        let note = format!("the session is recorded in {}; secrets", next.0.display());
        assert!(stderr.contains(&note), "{stderr}");
        assert!(next.text().starts_with("{\"#\":"), "{}", next.text());
        files.push(next);
    }
    assert_eq!(first.text(), "kept");
}

#[support::test]
fn record_and_replay_explain_wrong_words() {
    let file = Recorded::new();
    fs::write(&file.0, "").unwrap();
    let path = file.0.to_str().expect("a path of a test");
    let cut_off = Recorded::new();
    fs::write(&cut_off.0, "{\"client\": {}}\n{\"cli").unwrap();
    let broken = cut_off.0.to_str().expect("a path of a test");
    for (arguments, status, part) in [
        (&["record"][..], 2, "`record` needs `FILE`: `record FILE [OPTIONS] [-- ARGUMENTS]`"),
        (&["record", "a", "b"], 2, "but got `b`: `record FILE [OPTIONS] [-- ARGUMENTS]`"),
        (
            &["record", "."],
            1,
            "error: . is a directory: name a file, as in `record ./session.jsonl`",
        ),
        (&["record", "/nowhere/a.jsonl"], 1, "/nowhere/a.jsonl cannot be created: No such file"),
        (
            &["record", "/nowhere/a.jsonl", "--", "list"],
            2,
            "`record` starts a server that serves stdio, and `list` is a command: leave it out",
        ),
        (
            &["record", "/nowhere/a.jsonl", "--", "--http", "0"],
            2,
            "`record` records a session over stdio: leave `--http` out",
        ),
        (&["replay", "/nowhere/a.jsonl"], 1, "/nowhere/a.jsonl: No such file"),
        (&["replay", path], 1, "the file has no message of a client"),
        (&["replay", broken], 1, "line 2: not JSON: EOF while parsing a string at column 5\n"),
    ] {
        let output = fixture().args(arguments).output().expect("the fixture starts");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{stderr}");
        assert!(stderr.contains(part), "{stderr}");
    }
}

/// A recording may have a single message, which the server answers or does not.
#[support::test]
fn replay_counts_a_single_message() {
    let file = Recorded::new();
    let notification = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled" });
    fs::write(&file.0, json!({ "client": notification }).to_string()).unwrap();
    assert!(file.replay(0).contains("(1 message)"), "the server answers no notification");
    let request = crate::server::call(1, "echo", json!({ "text": "a" }));
    fs::write(&file.0, json!({ "client": request }).to_string()).unwrap();
    let said = String::from_utf8(file.replayed().stderr).expect("UTF-8");
    assert!(said.ends_with(" in 1 message\n"), "{said}");
}

/// Adds two numbers.
#[tool(group = "recorded")]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

#[support::test]
fn a_recorded_session_is_a_test() {
    let file = Recorded::new();
    let server = || mcp_runtime::server!(group = "recorded");
    let add = call(1, "add", json!({ "a": 2, "b": 3 }));
    let answer = |text: &str| {
        let result = json!({ "content": [{ "type": "text", "text": text }], "_meta": "<removed>", "resultType": "complete" });
        json!({ "server": { "jsonrpc": "2.0", "id": 1, "result": result } })
    };
    let write = |text: &str| {
        fs::write(&file.0, format!("{}\n{}\n", json!({ "client": add }), answer(text))).unwrap();
    };
    write("5");
    assert_replays!(server(), &file.0);
    write("6");
    let failed = std::panic::catch_unwind(|| assert_replays!(server(), &file.0)).unwrap_err();
    let told = failed.downcast_ref::<String>().expect("a text");
    assert!(told.ends_with("`result.content[0].text` was \"6\", and is \"5\""), "{told}");
}

#[support::test]
fn a_file_of_record_is_a_test() {
    let file = Recorded::new();
    let mut command = fixture();
    command.env("FIXTURE_DIARY", "1");
    file.record_as(command, |server| {
        initialize(json!({})).iter().for_each(|message| server.send(message));
        assert_eq!(server.response(0)["result"]["capabilities"]["logging"], json!({}));
        let legacy = |id: u64, method: &str, params: Value| json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        server.send(&legacy(1, "logging/setLevel", json!({ "level": "info" })));
        server.response(1);
        let call = json!({ "name": "write_down", "arguments": { "text": "rain" } });
        server.send(&legacy(2, "tools/call", call));
        assert_eq!(text_of(&server.response(2)), "rain");
        server.send(&request(3, "server/discover", json!({})));
        server.response(3);
    });
    assert!(file.text().contains("written: rain"), "{}", file.text());
    assert_replays!(diary::server(), &file.0);
}

/// Reports the name as its progress.
#[tool(group = "reporting")]
async fn report(name: String, progress: Progress) -> String {
    progress.say(1, &name);
    name
}

#[support::test]
fn progress_of_parallel_calls_is_matched_by_its_token() {
    let file = Recorded::new();
    let called = |name: &str| {
        let mut call = call(name, "report", json!({ "name": name }));
        call["params"]["_meta"]["progressToken"] = json!(name);
        json!({ "client": call })
    };
    let progress = |name: &str| {
        let params = json!({ "progressToken": name, "progress": 1, "message": name });
        json!({ "server": { "jsonrpc": "2.0", "method": "notifications/progress", "params": params } })
    };
    let answered =
        |name: &str| json!({ "server": { "jsonrpc": "2.0", "id": name, "result": "<removed>" } });
    let lines =
        [called("a"), called("b"), progress("b"), answered("b"), progress("a"), answered("a")];
    fs::write(&file.0, lines.map(|line| format!("{line}\n")).concat()).unwrap();
    assert_replays!(mcp_runtime::server!(group = "reporting"), &file.0);
}

#[support::test]
fn log_messages_of_parallel_calls_may_come_in_another_order() {
    let file = Recorded::new();
    let called = |text: &str| {
        let mut call = call(text, "write_down", json!({ "text": text }));
        call["params"]["_meta"]["io.modelcontextprotocol/logLevel"] = json!("info");
        json!({ "client": call })
    };
    let logged = |text: &str| {
        let data = format!("written: {text}");
        let params = json!({ "level": "info", "logger": "diary", "data": data });
        json!({ "server": { "jsonrpc": "2.0", "method": "notifications/message", "params": params } })
    };
    let answered =
        |text: &str| json!({ "server": { "jsonrpc": "2.0", "id": text, "result": "<removed>" } });
    let lines = [
        called("rain"),
        called("sun"),
        logged("sun"),
        answered("sun"),
        logged("rain"),
        answered("rain"),
    ];
    fs::write(&file.0, lines.map(|line| format!("{line}\n")).concat()).unwrap();
    assert_replays!(diary::server(), &file.0);
    file.edit("written: rain", "written: snow");
    let failed = std::panic::catch_unwind(|| assert_replays!(diary::server(), &file.0));
    let failed = failed.unwrap_err();
    let told = failed.downcast_ref::<String>().expect("a text");
    let expected = "`params.data` was \"written: snow\", and is \"written: rain\"";
    assert!(told.ends_with(expected), "{told}");
}

/// Multiplies two numbers.
#[tool]
fn multiply(a: i64, b: i64) -> i64 {
    a * b
}

#[support::test]
fn a_relative_path_of_a_session_begins_at_the_manifest() {
    assert_replays!("stdio/multiply.jsonl");
}

/// Reports progress for longer than a replay waits.
#[tool(group = "ticking")]
async fn tick(progress: Progress) -> &'static str {
    for tick in 1..200_000 {
        progress.say(tick, "tick");
        tokio::task::yield_now().await;
    }
    "done"
}

#[support::test]
fn a_replay_ends_although_the_server_goes_on_sending() {
    let file = Recorded::new();
    let mut tick = call(1, "tick", json!({}));
    tick["params"]["_meta"]["progressToken"] = json!("t");
    fs::write(&file.0, json!({ "client": tick }).to_string()).unwrap();
    let server = || mcp_runtime::server!(group = "ticking");
    let failed = std::panic::catch_unwind(|| assert_replays!(server(), &file.0)).unwrap_err();
    let told = failed.downcast_ref::<String>().expect("a text");
    assert!(told.contains("not in the recording: `notifications/progress`"), "{told}");
    assert!(!told.contains("the response to 1"), "the replay has waited for the last message");
}

/// Answer of the user.
#[form]
struct Said {
    text: String,
}

/// Asks a question.
#[tool(group = "asking")]
async fn ask(question: String, ctx: &Context) -> Result<String> {
    let said: Said = ctx.elicit("said", &question).await?;
    Ok(format!("{question} {}", said.text))
}

#[support::test]
fn each_of_two_questions_gets_its_recorded_answer_in_any_order() {
    let file = Recorded::new();
    let ask = |id: u64, question: &str| {
        let params = json!({ "name": "ask", "arguments": { "question": question } });
        json!({ "client": { "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params } })
    };
    let asked = |id: &str, question: &str| {
        let params = json!({ "message": question, "requestedSchema": "<removed>" });
        json!({ "server": { "jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": params } })
    };
    let says = |id: &str, text: &str| {
        let result = json!({ "action": "accept", "content": { "text": text } });
        json!({ "client": { "jsonrpc": "2.0", "id": id, "result": result } })
    };
    let answered = |id: u64, text: &str| {
        let result = json!({ "content": [{ "type": "text", "text": text }] });
        json!({ "server": { "jsonrpc": "2.0", "id": id, "result": result } })
    };
    let [initialize, initialized] = initialize(json!({ "elicitation": {} }));
    let lines = [
        json!({ "client": initialize }),
        json!({ "server": { "jsonrpc": "2.0", "id": 0, "result": "<removed>" } }),
        json!({ "client": initialized }),
        ask(1, "Tea?"),
        ask(2, "Milk?"),
        asked("milk", "Milk?"),
        asked("tea", "Tea?"),
        says("milk", "No"),
        answered(2, "Milk? No"),
        says("tea", "Yes"),
        answered(1, "Tea? Yes"),
    ];
    fs::write(&file.0, lines.map(|line| format!("{line}\n")).concat()).unwrap();
    assert_replays!(mcp_runtime::server!(group = "asking"), &file.0);
}
