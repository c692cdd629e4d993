//! Clients over stdio.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::TcpListener,
    process::{ChildStdin, ChildStdout, Stdio},
};

use rustix::{
    io::ioctl_fionread,
    process::{Pid, Signal, kill_process},
};
use serde_json::{Value, json};
use support::{
    clock::{Stopwatch, eventually_within},
    process::Running,
};

use crate::{
    client::{Client, PATIENCE, call, modern, text},
    workshop::{
        BROKEN, DOUBLE, EXACT, EXACT_MEMBERS, GREET, NOTE, Workshop, main_with_port, versioned,
    },
};

pub(crate) fn names(answer: &Value) -> Vec<&str> {
    let tools = answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("{answer}"));
    tools.iter().filter_map(|tool| tool["name"].as_str()).collect()
}

#[support::test]
fn a_new_tool_reaches_a_session_that_stays_open() {
    let workshop = Workshop::new("session", "");
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        workshop.save_program("");
        let mut client = Client::start(workshop.dev(&[]));
        let capabilities = client.initialize(revision);
        for list in ["tools", "prompts", "resources"] {
            assert_eq!(capabilities[list]["listChanged"], true, "{capabilities}");
        }
        assert_eq!(names(&client.request(1, "tools/list", json!({}))), ["letters"]);
        let prompts = client.request(2, "prompts/list", json!({}));
        assert_eq!(prompts["result"], json!({ "prompts": [] }));
        workshop.save_program(DOUBLE);
        client.notification("notifications/tools/list_changed");
        let answer = client.request(3, "tools/call", call("double", json!({ "number": 21 })));
        assert_eq!(text(&answer), "42");
        assert_eq!(names(&client.request(4, "tools/list", json!({}))), ["double", "letters"]);
        client.check_end();
    }
}

/// The server prints more than the pipe and the relay of `dev` keep.
#[support::test]
fn a_client_that_does_not_read_stderr_is_served() {
    const PRINT: &str =
        "#[tool]\nfn print() { (0..3000).for_each(|_| eprintln!(\"{}\", \"x\".repeat(1000))); }\n";
    let workshop = Workshop::new("unread", PRINT);
    let mut client = Client::start_unread(workshop.dev(&[]));
    client.initialize("2025-11-25");
    for _ in 0..2 {
        client.wait_for_answer("print", json!({}));
    }
    workshop.save_program(DOUBLE);
    let answer = client.wait_for_answer("double", json!({ "number": 21 }));
    assert_eq!(text(&answer), "42");
    client.check_end();
}

/// Compares `dev` with `cargo build` after the same changes of two equal crates, in turn.
#[support::test]
#[ignore = "a measurement: `cargo test --workspace --test dev -- --ignored --nocapture saving`"]
fn from_saving_to_the_answer_of_the_new_tool() {
    let (built, served) = (Workshop::new("built", ""), Workshop::new("served", ""));
    let mut client = Client::start(served.dev(&[]));
    client.initialize("2025-11-25");
    client.request(1, "tools/list", json!({}));
    for round in 2..11 {
        let tool = DOUBLE.replace("double", &format!("double_{round}"));
        let build = built.time_of_build(&tool);
        let watch = Stopwatch::start();
        served.save_program(&tool);
        client.notification("notifications/tools/list_changed");
        let doubled = call(&format!("double_{round}"), json!({ "number": 21 }));
        assert_eq!(text(&client.request(round, "tools/call", doubled)), "42");
        support::note!("dev | {} | {}", build.as_millis(), watch.elapsed().as_millis());
    }
    client.check_end();
}

#[support::test]
fn messages_keep_the_order_of_members_and_the_digits_of_numbers() {
    let workshop = Workshop::new("exact", EXACT);
    let mut client = Client::start(workshop.dev(&[]));
    let meta = modern(json!({}))["_meta"].clone();
    let request = |id: u64, method: &str, params: &str| {
        let params = format!(r#"{{"name":"exact",{params}"_meta":{meta}}}"#);
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)
    };
    client.send(&request(1, "tools/call", &format!(r#""arguments":{EXACT_MEMBERS},"#)));
    client.response(1);
    client.send(&request(2, "tools/list", ""));
    assert_eq!(client.response(2)["result"]["ttlMs"], 0);
    let said = client.stdout();
    assert!(said.contains(&format!(r#""structuredContent":{EXACT_MEMBERS}"#)), "{said}");
    // `dev` changes the time to live of this answer, and nothing else.
    assert!(said.contains(r#""required":["zebra","apple"]"#), "{said}");
    let at = |name: &str| said.find(&format!(r#""{name}":{{"#)).unwrap_or_else(|| panic!("{said}"));
    assert!(at("zebra") < at("apple"), "{said}");
    client.check_end();
}

#[support::test]
fn a_listen_stream_hears_of_a_new_tool() {
    let workshop = Workshop::new("listen", "");
    let mut client = Client::start(workshop.dev(&[]));
    let server = client.request(1, "server/discover", modern(json!({})));
    assert_eq!(server["result"]["capabilities"]["tools"]["listChanged"], true, "{server}");
    let wanted = json!({ "toolsListChanged": true, "promptsListChanged": true });
    let listen = modern(json!({ "notifications": wanted }));
    client.send(
        &json!({ "jsonrpc": "2.0", "id": 2, "method": "subscriptions/listen", "params": listen }),
    );
    let begun = client.notification("notifications/subscriptions/acknowledged");
    assert_eq!(begun["params"]["notifications"], wanted);
    for (round, code) in [(0, DOUBLE), (1, "")] {
        workshop.save_program(code);
        for list in ["tools", "prompts"] {
            let changed = client.notification(&format!("notifications/{list}/list_changed"));
            let id = &changed["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"];
            assert_eq!(*id, 2, "{changed}");
        }
        let tools = client.request(3 + round, "tools/list", modern(json!({})));
        assert_eq!(names(&tools).len() as u64, 2 - round);
        assert_eq!(tools["result"]["ttlMs"], 0);
    }
    let rest = client.check_end();
    // The stream has begun once for the client, and ends with it.
    let unexpected =
        rest.iter().find(|message| message["id"] != 2 && message["params"]["requestId"] != 2);
    assert_eq!(unexpected, None);
}

#[support::test]
fn the_errors_of_the_compiler_answer_calls_until_the_build_heals() {
    let workshop = Workshop::new("broken", "");
    let mut client = Client::start(workshop.dev(&[]));
    client.initialize("2025-11-25");
    workshop.save_program(BROKEN);
    client.wait_for_words("the build has failed");
    let answer = client.request(1, "tools/call", call("letters", json!({ "text": "four" })));
    let errors = text(&answer);
    assert!(errors.starts_with("error: the server does not compile"), "{errors}");
    assert!(
        errors.contains("cannot multiply `i64` by `&str`") && errors.contains("src/main.rs:"),
        "{errors}"
    );
    assert!(client.stderr().contains("cannot multiply `i64` by `&str`"));
    // The last server that works answers everything else.
    assert_eq!(names(&client.request(2, "tools/list", json!({}))), ["letters"]);
    workshop.save_program(DOUBLE);
    client.notification("notifications/tools/list_changed");
    let answer = client.request(3, "tools/call", call("double", json!({ "number": 2 })));
    assert_eq!(text(&answer), "4");
    // The manifest counts, too. Its errors are those of cargo.
    let manifest = workshop.read("Cargo.toml");
    workshop.save("Cargo.toml", "[package");
    client.wait_for_words("unclosed table");
    client.wait_for_failures(2);
    let answer = client.request(4, "tools/call", call("letters", json!({ "text": "four" })));
    assert!(text(&answer).contains("unclosed table"), "{answer}");
    workshop.save("Cargo.toml", &manifest);
    client.wait_for_words("built after");
    client.check_end();
}

#[support::test]
fn a_call_after_a_change_is_answered_by_the_new_server() {
    let workshop = Workshop::new("meanwhile", "");
    workshop.save_program(&versioned("one"));
    let mut client = Client::start(workshop.dev(&[]));
    client.initialize("2025-06-18");
    let version = || call("version", json!({}));
    assert_eq!(text(&client.request(1, "tools/call", version())), "one");
    workshop.save_program(&versioned("two"));
    client.wait_for_words("the sources have changed");
    assert_eq!(text(&client.request(2, "tools/call", version())), "two");
    let (modern, legacy) = (modern(version()), version());
    // Clients of both eras may use the same pipe in turn.
    assert_eq!(text(&client.request(3, "tools/call", modern)), "two");
    assert_eq!(text(&client.request(4, "tools/call", legacy)), "two");
    client.check_end();
}

/// `cargo run` may build for minutes while the author goes on.
#[support::test]
fn a_change_before_the_sources_are_watched_is_built() {
    let workshop = Workshop::new("before", &versioned("one"));
    let program = workshop.read("src/main.rs").replace("\"one\"", "\"two\"");
    workshop.save("src/main.rs", &program);
    let mut client = Client::start(workshop.dev_of_last_build());
    client.initialize("2025-11-25");
    assert_eq!(text(&client.request(1, "tools/call", call("version", json!({})))), "two");
    client.check_end();
}

#[support::test]
fn a_change_ends_a_build_that_hangs() {
    let workshop = Workshop::new("hangs", "");
    let mut client = Client::start(workshop.dev(&[]));
    client.initialize("2025-11-25");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address").to_string();
    workshop.save(
        "build.rs",
        &format!("fn main() {{ let _open = std::net::TcpStream::connect({address:?}); loop {{ std::thread::park(); }} }}\n"),
    );
    let (mut script, _) = listener.accept().expect("the build script connects");
    workshop.save("build.rs", "fn main() {}\n");
    workshop.save_program(DOUBLE);
    let answer = client.wait_for_answer("double", json!({ "number": 2 }));
    assert_eq!(text(&answer), "4");
    script.set_read_timeout(Some(PATIENCE)).expect("a time");
    assert_eq!(script.read(&mut [0]).expect("the script has ended"), 0);
    client.check_end();
}

#[support::test]
fn a_build_script_that_writes_sources_does_not_end_each_build() {
    generate("generates", "println!(\"cargo::rerun-if-changed=build.rs\");");
    // Cargo runs this script again after each change, so after its own changes too.
    generate("generates-always", "");
}

/// Checks that a call is answered although the build script writes sources. `rule` is its code that tells cargo when to run it.
#[track_caller]
fn generate(name: &str, rule: &str) {
    let workshop = Workshop::new(name, "");
    let mut client = Client::start(workshop.dev(&[]));
    client.initialize("2025-11-25");
    let letters = |id: u64| {
        let params = call("letters", json!({ "text": "four" }));
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
    };
    // The call waits for the first build, which a change would end too.
    client.send(&letters(1));
    client.response(1);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address").to_string();
    // The script ends when the test closes the connection. Until then, `dev` sees the change of the sources.
    let script = format!(
        r#"fn main() {{
            {rule}
            let text = format!("// {{}}\n", std::process::id());
            std::fs::write("src/generated.rs", text).unwrap();
            if let Ok(mut open) = std::net::TcpStream::connect({address:?}) {{
                let _ = std::io::Read::read(&mut open, &mut [0]);
            }}
        }}"#
    );
    // A single change of the script, so that only its own changes end its builds.
    workshop.save("script.new", &script);
    fs::rename(workshop.path("script.new"), workshop.path("build.rs")).expect("a new script");
    let accept = || listener.accept().expect("the build script connects").0;
    let mut connection = accept();
    client.send(&letters(2));
    for _ in 0..2 {
        connection.set_read_timeout(Some(PATIENCE)).expect("a time");
        assert_eq!(connection.read(&mut [0]).expect("the build has ended"), 0);
        connection = accept();
    }
    drop((connection, listener));
    assert_eq!(text(&client.response(2)), "4");
    client.check_end();
}

#[support::test]
fn no_change_during_many_builds_is_forgotten() {
    let workshop = Workshop::new("many", "");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address").to_string();
    let mut client = Client::start(workshop.dev(&[]));
    client.initialize("2025-11-25");
    // The call waits for the first build, which a change would end too.
    client.request(1, "tools/call", call("letters", json!({ "text": "four" })));
    let version = |id: u64| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": call("version", json!({})) });
    // Each build waits until the test closes the connection of its script.
    let script = format!(
        r#"fn main() {{
            if let Ok(mut open) = std::net::TcpStream::connect({address:?}) {{
                let _ = std::io::Read::read(&mut open, &mut [0]);
            }}
        }}"#
    );
    // A single change, so that it ends a single build.
    let save = |file: &str, text: &str| {
        workshop.save("saved.new", text);
        fs::rename(workshop.path("saved.new"), workshop.path(file)).expect("a new file");
    };
    save("build.rs", &script);
    let accept = || listener.accept().expect("the build script connects").0;
    let mut connection = accept();
    for saved in ["one", "two"] {
        save("src/main.rs", &workshop.program(&versioned(saved)).1);
        connection.set_read_timeout(Some(PATIENCE)).expect("a time");
        assert_eq!(connection.read(&mut [0]).expect("the build has ended"), 0);
        connection = accept();
    }
    // This build may take its time.
    save("src/main.rs", &workshop.program(&versioned("three")).1);
    drop((connection, listener));
    client.send(&version(2));
    assert_eq!(text(&client.response(2)), "three");
    client.check_end();
}

#[support::test]
fn a_running_call_ends_at_the_server_that_has_begun_it() {
    let workshop = Workshop::new("running", GREET);
    let mut client = Client::start(workshop.dev(&[]));
    client.initialize("2025-11-25");
    client.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call("greet", json!({})) }));
    let first = client.notification("elicitation/create");
    workshop.save("words/src/lib.rs", "pub const GREETING: &str = \"welcome\";\n");
    client.notification("notifications/tools/list_changed");
    client.send(&json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call("greet", json!({})) }));
    let second = client.notification("elicitation/create");
    assert_ne!(first["id"], second["id"], "the client could not tell the questions apart");
    for (question, name) in [(second, "Bob"), (first, "Ada")] {
        let result = json!({ "action": "accept", "content": { "name": name } });
        client.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": result }));
    }
    // The path dependency belongs to the sources.
    assert_eq!(text(&client.response(2)), "welcome Bob");
    assert_eq!(text(&client.response(1)), "hello Ada");
    client.check_end();
}

#[support::test]
fn a_subscription_is_known_to_the_next_server() {
    let workshop = Workshop::new("subscription", NOTE);
    let mut client = Client::start(workshop.dev(&[]));
    let capabilities = client.initialize("2025-11-25");
    assert_eq!(capabilities["resources"]["subscribe"], true);
    let answer = client.request(1, "resources/subscribe", json!({ "uri": "note://today" }));
    assert_eq!(answer["result"], json!({}));
    workshop.save_program(DOUBLE);
    client.notification("notifications/tools/list_changed");
    let answer = client.request(2, "tools/call", call("write", json!({})));
    assert_eq!(text(&answer), "written");
    let updated = client.notification("notifications/resources/updated");
    assert_eq!(updated["params"]["uri"], "note://today");
    client.check_end();
}

#[support::test]
fn a_client_may_send_its_first_messages_at_once() {
    let workshop = Workshop::new("at-once", NOTE);
    let mut client = Client::start(workshop.dev(&[]));
    let params = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" },
    });
    for message in [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "resources/subscribe", "params": { "uri": "note://today" } }),
    ] {
        client.send(&message);
    }
    assert_eq!(client.response(2)["result"], json!({}));
    let answer = client.request(3, "tools/call", call("write", json!({})));
    assert_eq!(text(&answer), "written");
    client.notification("notifications/resources/updated");
    client.check_end();
}

#[support::test]
fn a_handshake_that_the_server_refuses_leaves_the_session_as_it_is() {
    let workshop = Workshop::new("refuses", "");
    let mut client = Client::start(workshop.dev(&[]));
    client.initialize("2025-11-25");
    assert_eq!(client.request(1, "initialize", json!({}))["error"]["code"], -32602);
    workshop.save_program(DOUBLE);
    client.notification("notifications/tools/list_changed");
    assert_eq!(names(&client.request(2, "tools/list", json!({}))), ["double", "letters"]);
    client.check_end();
}

#[support::test]
fn a_server_that_cannot_start_is_reported_and_the_last_one_answers_on() {
    let workshop = Workshop::new("panics", "");
    let mut client = Client::start(workshop.dev(&[]));
    client.initialize("2025-11-25");
    workshop.save_main(
        "server!().setup(async || -> Result<u8> { panic!(\"the door is locked\") }).run()",
    );
    client.wait_for_words("the door is locked");
    let letters = || call("letters", json!({ "text": "four" }));
    let answer = client.request(1, "tools/call", letters());
    assert!(text(&answer).starts_with("error: the server has ended"), "{answer}");
    assert!(text(&answer).contains("the door is locked"), "{answer}");
    assert_eq!(names(&client.request(2, "tools/list", json!({}))), ["letters"]);
    workshop.save_program(DOUBLE);
    client.notification("notifications/tools/list_changed");
    assert_eq!(text(&client.request(3, "tools/call", letters())), "4");
    client.check_end();
}

#[support::test]
fn a_server_that_has_never_started_is_reported_to_each_request() {
    let workshop = Workshop::new("never", "");
    workshop.save_main("server!().setup(async || Err::<u8, _>(Error::msg(\"no database\"))).run()");
    let mut client = Client::start(workshop.dev(&[]));
    client.wait_for_words("no database");
    let answer = client.request(1, "tools/list", modern(json!({})));
    let problem = answer["error"]["message"].as_str().unwrap_or_default();
    assert!(problem.contains("no database"), "{answer}");
    workshop.save_program("");
    client.wait_for_words("the sources have changed");
    assert_eq!(names(&client.request(2, "tools/list", modern(json!({})))), ["letters"]);
    client.check_end();
}

#[support::test]
fn a_server_that_ends_in_a_call_starts_again_after_the_next_change() {
    let code = "/// Ends the process.\n#[tool]\nfn quit() { std::process::exit(3) }\n";
    let workshop = Workshop::new("quits", code);
    let mut client = Client::start(workshop.dev(&[]));
    client.initialize("2025-11-25");
    let answer = client.request(1, "tools/call", call("quit", json!({})));
    assert!(text(&answer).starts_with("error: the server has ended (exit status: 3)"), "{answer}");
    workshop.save_program(DOUBLE);
    client.notification("notifications/tools/list_changed");
    let answer = client.request(2, "tools/call", call("double", json!({ "number": 3 })));
    assert_eq!(text(&answer), "6");
    client.check_end();
}

#[support::test]
fn a_server_that_needs_a_port_starts_when_the_last_one_has_ended() {
    let mut workshop = Workshop::new("port", "");
    workshop.set_main(&main_with_port());
    let mut client = Client::start(workshop.dev(&[]));
    client.initialize("2025-11-25");
    workshop.save_program(DOUBLE);
    client.notification("notifications/tools/list_changed");
    let answer = client.request(1, "tools/call", call("double", json!({ "number": 4 })));
    assert_eq!(text(&answer), "8");
    client.check_end();
}

#[support::test]
fn folders_that_come_back_are_watched_again() {
    let workshop = Workshop::new("folders", "");
    let mut client = Client::start(workshop.dev(&[]));
    client.initialize("2025-11-25");
    // A change of branches can also remove the folder for a moment.
    std::fs::rename(workshop.path("src"), workshop.path("old")).expect("a folder");
    client.wait_for_words("the build has failed");
    workshop.save_program("");
    client.wait_for_words("built after");
    workshop.save_program(DOUBLE);
    let answer = client.wait_for_answer("double", json!({ "number": 5 }));
    assert_eq!(text(&answer), "10");
    client.check_end();
}

/// Starts `dev`, and sends so many requests that their answers fill the pipe. No answer is read.
fn with_unread_answers(name: &str) -> (Running, ChildStdin, ChildStdout) {
    let workshop = Workshop::new(name, "");
    let mut command = workshop.dev(&[]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut process = Running::start(&mut command);
    let (stdin, stdout) = (process.stdin(), process.stdout().expect("stdout is piped"));
    let mut stdin = stdin.expect("stdin is piped");
    // All requests fit into the pipe, and their answers do not.
    for id in 0..200 {
        let list = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/list", "params": modern(json!({})) });
        stdin.write_all(format!("{list}\n").as_bytes()).expect("the process reads");
    }
    // The last page of a pipe stays open for a write that fits, so a full pipe may have some bytes less than 64 KiB.
    eventually_within(PATIENCE, "the pipe is full", || {
        (ioctl_fionread(&stdout).expect("a pipe") > 40_000).then_some(())
    });
    (process, stdin, stdout)
}

/// `dev` has to end even if it waits for a client that does not read its answers.
#[support::test]
fn a_client_that_reads_no_answer_does_not_keep_the_process_from_ending() {
    let (mut process, _stdin, _stdout) = with_unread_answers("unread");
    let pid = Pid::from_raw(process.pid().cast_signed()).expect("a pid");
    kill_process(pid, Signal::TERM).expect("the process is there");
    assert!(process.wait(PATIENCE).is_some(), "the process ends");
}

#[support::test]
fn a_client_that_reads_gets_all_answers_after_the_process_was_asked_to_end() {
    let (mut process, _stdin, mut stdout) = with_unread_answers("read-late");
    let pid = Pid::from_raw(process.pid().cast_signed()).expect("a pid");
    kill_process(pid, Signal::TERM).expect("the process is there");
    let mut said = String::new();
    stdout.read_to_string(&mut said).expect("text");
    assert!(said.ends_with('\n') && said.lines().count() == 200, "{}", said.lines().count());
    assert!(process.wait(PATIENCE).is_some(), "the process ends");
}

#[support::test]
fn a_client_that_leaves_without_reading_its_answers_does_not_keep_the_process_from_ending() {
    let (mut process, stdin, _stdout) = with_unread_answers("unread-left");
    drop(stdin);
    assert!(process.wait(PATIENCE).is_some(), "the process ends");
}
