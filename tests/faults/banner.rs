//! The lines that a listening server prints on stderr.

use std::{
    io::{BufRead as _, BufReader},
    process::{Command, Stdio},
    sync::mpsc::channel,
    thread,
};

use serde_json::Value;
use support::{
    examples::example,
    process::Running,
    requirement::{needs, success_of},
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use crate::server::DEADLINE;

/// Splits a line into words as a POSIX shell does. Handles single quotes and backslashes only.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let (mut is_quoted, mut is_escaped) = (false, false);
    for char in line.chars() {
        let word = words.last_mut().expect("there is one");
        match char {
            _ if is_escaped => {
                word.push(char);
                is_escaped = false;
            }
            '\'' => is_quoted = !is_quoted,
            '\\' if !is_quoted => is_escaped = true,
            ' ' if !is_quoted => words.push(String::new()),
            _ => word.push(char),
        }
    }
    assert!(!is_quoted && !is_escaped, "{line}");
    words
}

#[support::test]
fn a_line_is_split_into_words_as_in_a_shell() {
    assert_eq!(
        words(r#"curl 'a b' -H 'c'\''d' -d '{"e":1}'"#),
        ["curl", "a b", "-H", "c'd", "-d", r#"{"e":1}"#]
    );
}

/// Starts the example, and returns its process and the `curl` command that it prints.
fn started(name: &str) -> (Running, String) {
    let mut command = Command::new(example(name));
    command
        .args(["--http", "127.0.0.1:0"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut process = Running::start(&mut command);
    let stderr = BufReader::new(process.stderr().expect("stderr is piped"));
    let (sender, lines) = channel();
    thread::spawn(move || {
        for line in stderr.lines().map_while(Result::ok) {
            let _ = sender.send(line);
        }
    });
    loop {
        let line = lines.recv_timeout(DEADLINE).expect("the server says how to try it");
        if let Some(at) = line.find("curl ") {
            return (process, line[at..].to_owned());
        }
    }
}

/// Sends the request of a `curl` command, and returns the status and the JSON of the body.
async fn post(words: &[String]) -> (u16, Value) {
    let (mut url, mut headers, mut body) = ("", Vec::new(), "");
    let mut rest = words.iter().skip(1);
    while let Some(word) = rest.next() {
        match word.as_str() {
            "-H" => headers.push(rest.next().expect("a header").as_str()),
            "-d" => body = rest.next().expect("a body"),
            _ => url = word,
        }
    }
    let (address, path) =
        url.strip_prefix("http://").and_then(|rest| rest.split_once('/')).expect("a URL");
    let mut stream = TcpStream::connect(address).await.expect("the server listens");
    let length = body.len();
    let head = format!(
        "POST /{path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Length: {length}\r\n{}\r\n\r\n{body}",
        headers.join("\r\n")
    );
    stream.write_all(head.as_bytes()).await.expect("the server reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("the server answers");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
    let status = head.split(' ').nth(1).and_then(|word| word.parse().ok()).expect("a status");
    (status, serde_json::from_str(body).unwrap_or(Value::Null))
}

#[support::test]
async fn the_printed_curl_command_works() {
    let (_process, line) = started("quickstart");
    let words = words(&line);
    let (status, body) = post(&words).await;
    assert_eq!(status, 200, "{line}\n{body}");
    assert_eq!(body["result"]["capabilities"]["tools"], serde_json::json!({}), "{body}");
    let mut curl = Command::new(&words[0]);
    curl.args(&words[1..]).args(["-s", "-o", "/dev/null", "-w", "%{http_code}"]);
    assert_eq!(needs(success_of(&mut curl)), "200", "{line}");
}
