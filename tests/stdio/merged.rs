//! stdout and stderr in one pipe, and slow readers.

use std::{io::Read, path::Path, thread, time::Duration};

use serde_json::{Value, json};
use support::clock::{eventually_blocking, linger_blocking};

use crate::flow::{MIB, peak_memory};
use crate::server::{Server, call, echo, fixture_in_shell, message, text_of};

const LINES: usize = 5000;

/// Reads to the end of the stream with many pauses, so that the pipe is full most of the time.
fn read_slowly(mut stream: impl Read) -> String {
    let mut text = Vec::new();
    let mut chunk = [0; 8192];
    loop {
        if text.len() % (16 * chunk.len()) < chunk.len() {
            linger_blocking(Duration::from_millis(20));
        }
        match stream.read(&mut chunk).unwrap() {
            0 => return String::from_utf8(text).unwrap(),
            count => text.extend_from_slice(&chunk[..count]),
        }
    }
}

/// Every line is either a whole message or a whole line of the log.
#[support::test]
fn log_and_messages_in_one_pipe_break_no_line() {
    let mut server = Server::start_as(fixture_in_shell("2>&1"));
    let stdout = server.take_stdout();
    let reader = thread::spawn(move || read_slowly(stdout));
    server.send(&echo("before"));
    server.send(&call("log", "log", json!({ "lines": LINES })));
    for n in 0..500 {
        server.send(&echo(&format!("echo {n}")));
        if n % 100 == 0 {
            server.send(&call(format!("log {n}"), "log", json!({ "lines": 10 })));
        }
    }
    let ended = server.finish();
    assert!(ended.status.success(), "{ended:?}");

    let text = reader.join().unwrap();
    let (messages, log): (Vec<_>, Vec<_>) = text.lines().partition(|line| line.starts_with('{'));
    let texts: Vec<_> = messages.iter().map(|line| text_of(&message(line))).collect();
    assert_eq!(texts.len(), 1 + 1 + 500 + 5);
    assert!((0..500).all(|n| texts.contains(&format!("echo {n}"))));
    let long: Vec<_> = log.iter().filter(|line| line.ends_with(&format!("of {LINES}"))).collect();
    assert_eq!(long.len(), LINES);
    for (n, line) in long.iter().enumerate() {
        assert!(line.ends_with(&format!(" log line {n} of {LINES}")), "{line}");
    }
    assert_eq!(log.len(), LINES + 5 * 10);
}

/// Progress reports that the client has not read yet are merged. The last one still comes before the result.
#[support::test]
fn reports_are_merged_under_a_slow_reader() {
    const STEPS: u32 = 100_000;
    let mut server = Server::start();
    let flag =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("counted-{}", std::process::id()));
    let arguments = json!({ "steps": STEPS, "flag": flag });
    let mut request = call("count", "count", arguments);
    request["params"]["_meta"]["progressToken"] = json!("token");
    server.send(&request);
    eventually_blocking("all steps are reported", || flag.exists().then_some(()));
    std::fs::remove_file(&flag).unwrap();
    let peak = peak_memory(server.pid());
    assert!(peak < 48 * MIB, "{} MiB", peak / MIB);
    let mut last = 0.0;
    let mut reports = 0;
    let result = loop {
        let message = server.message().expect("the result comes");
        if message["id"] == "count" {
            break message;
        }
        let params = &message["params"];
        assert_eq!(params["progressToken"], "token", "{message}");
        let progress = params["progress"].as_f64().unwrap();
        assert!(progress > last, "{progress} after {last}");
        last = progress;
        reports += 1;
    };
    assert_eq!(text_of(&result), format!("{STEPS} steps"));
    assert_eq!(last, f64::from(STEPS));
    support::note!("{reports} reports of {STEPS} steps went out");
    assert!(reports < STEPS / 10, "{reports}");
    let ended = server.finish();
    ended.check_soon();
    assert_eq!(ended.rest, [] as [Value; 0]);
}
