//! Clients that do not read stderr: the server answers and ends, and the lines that they miss are counted.

use std::{
    fs,
    io::{BufRead, BufReader, Read as _, Write as _},
    net::TcpStream,
    os::{
        fd::{AsRawFd as _, OwnedFd},
        unix::{net::UnixStream, process::ExitStatusExt as _},
    },
    path::Path,
    process::ChildStderr,
    thread,
};

use rustix::process::Signal;
use serde_json::json;
use support::clock::eventually_blocking;

use crate::{
    ending::computing,
    server::{Ended, Server, call, fixture, fixture_in_shell},
};

/// Number of lines of 1,000 bytes, which are more than the relay and the pipes keep.
const LINES: usize = 3000;

/// Starts a server whose stderr is a pipe that the test does not read.
fn unread() -> (Server, ChildStderr) {
    let mut command = fixture();
    command.env("RUST_BACKTRACE", "1");
    Server::start_unread(command)
}

fn print_lines(server: &mut Server, lines: usize) {
    let arguments = json!({ "lines": lines, "bytes": 1000 });
    assert_eq!(server.ask("lines", "print_lines", arguments), "printed");
}

/// Fills the pipe and the relay with logs, prints and panics.
fn fill(server: &mut Server) {
    server.ask("log", "log", json!({ "lines": LINES }));
    server.check_echo("after logs");
    print_lines(server, LINES);
    server.check_echo("after lines");
    for _ in 0..20 {
        assert!(server.ask("panic", "panic_now", json!({})).starts_with("error: "));
    }
    server.check_echo("after panics");
}

#[support::test]
fn a_server_whose_stderr_is_full_answers_and_ends_at_the_end_of_stdin() {
    let (mut server, _stderr) = unread();
    fill(&mut server);
    server.finish().check_soon();
}

#[support::test]
fn a_server_whose_stderr_is_full_ends_at_sigterm() {
    let (mut server, _stderr) = unread();
    fill(&mut server);
    server.terminate();
    server.wait().check_soon();
}

#[support::test]
fn a_handler_that_computes_beside_a_full_stderr_is_ended_by_a_second_sigterm() {
    let (mut server, _stderr) = unread();
    fill(&mut server);
    let mut server = computing(server);
    // The system may merge two signals of which the first has not arrived.
    eventually_blocking("the server ends", || {
        server.terminate();
        server.has_ended().then_some(())
    });
    assert_eq!(server.wait().status.code(), Some(1));
}

/// Returns the numbers of the lines that `print_lines` has printed.
fn numbers(text: &str) -> Vec<usize> {
    let numbers = text.lines().filter_map(|line| line.split_once(" of ")?.0.strip_prefix("line "));
    numbers.map(|number| number.parse().unwrap()).collect()
}

#[support::test]
fn the_lines_that_a_client_misses_are_counted_and_the_others_are_whole() {
    let (mut server, mut stderr) = unread();
    print_lines(&mut server, LINES);
    let reader = thread::spawn(move || {
        let mut text = String::new();
        stderr.read_to_string(&mut text).unwrap();
        text
    });
    let ended = server.finish();
    ended.check_soon();
    let text = reader.join().unwrap();
    let numbers = numbers(&text);
    assert!((500..LINES).contains(&numbers.len()), "{}", numbers.len());
    assert!(numbers.is_sorted(), "{numbers:?}");
    // On a busy machine, the writing thread may begin late, and there are two notes.
    let (mut notes, mut missing) = (0, 0);
    for line in text.split_inclusive('\n') {
        let Some(note) = line.strip_prefix("note: ") else {
            assert_eq!(line.len(), 1000, "{line}");
            continue;
        };
        let (count, rest) = note.split_once(' ').expect("a number");
        assert_eq!(rest, "lines are missing here, because stderr was not read in time\n");
        (notes, missing) = (notes + 1, missing + count.parse::<usize>().unwrap());
    }
    assert!(notes > 0);
    assert_eq!(missing, LINES - numbers.len());
}

/// Starts a server, and lets it print lines and then end. Returns the lines if they are to be read.
fn print_and_end(way: &str, lines: usize, is_read: bool) -> (Ended, String) {
    let (mut server, mut stderr) = unread();
    let arguments = json!({ "lines": lines, "bytes": 1000, "way": way });
    server.send(&call("end", "print_and_end", arguments));
    let reader = is_read.then(|| {
        thread::spawn(move || {
            let mut bytes = Vec::new();
            stderr.read_to_end(&mut bytes).unwrap();
            String::from_utf8(bytes).unwrap()
        })
    });
    let ended = server.wait();
    (ended, reader.map(|reader| reader.join().unwrap()).unwrap_or_default())
}

#[track_caller]
fn check_way(way: &str, ended: &Ended) {
    match way {
        "exit" => assert_eq!(ended.status.code(), Some(3), "{ended:?}"),
        _ => assert_eq!(ended.status.signal(), Some(Signal::ABORT.as_raw()), "{way}: {ended:?}"),
    }
}

#[support::test]
fn the_last_words_before_an_exit_or_an_abort_arrive() {
    for way in ["exit", "abort", "handled", "panic"] {
        let (ended, text) = print_and_end(way, 400, true);
        assert_eq!(numbers(&text), (0..400).collect::<Vec<_>>(), "{way}");
        check_way(way, &ended);
    }
}

#[support::test]
fn a_process_that_exits_or_aborts_beside_a_full_stderr_ends() {
    for way in ["exit", "abort", "handled", "panic"] {
        check_way(way, &print_and_end(way, LINES, false).0);
    }
}

/// Clients on Node give a server a socket, and sockets of Node do not block.
#[support::test]
fn a_socket_is_relayed_whether_it_blocks_or_not() {
    for nonblocking in [false, true] {
        let (ours, theirs) = UnixStream::pair().unwrap();
        theirs.set_nonblocking(nonblocking).unwrap();
        let mut command = fixture();
        command.stderr(OwnedFd::from(theirs));
        let mut server = Server::start_as(command);
        print_lines(&mut server, 400);
        server.check_echo("after lines");
        let reader = thread::spawn(move || {
            let (mut ours, mut text) = (ours, String::new());
            ours.read_to_string(&mut text).unwrap();
            text
        });
        server.finish().check_soon();
        assert_eq!(numbers(&reader.join().unwrap()), (0..400).collect::<Vec<_>>());
    }
}

/// Standard output is stderr while the server runs.
#[support::test]
fn both_streams_of_a_handler_keep_their_order() {
    let (mut server, mut stderr) = unread();
    assert_eq!(server.ask("both", "print_both", json!({ "lines": 200 })), "printed");
    server.finish().check_soon();
    let mut text = String::new();
    stderr.read_to_string(&mut text).unwrap();
    let expected: String = (0..200).map(|n| format!("out {n}\nerr {n}\n")).collect();
    assert_eq!(text, expected);
}

#[support::test]
fn a_handler_may_print_after_the_client_has_closed_stderr() {
    let (mut server, stderr) = unread();
    drop(stderr);
    print_lines(&mut server, LINES);
    assert_eq!(server.ask("both", "print_both", json!({ "lines": 3 })), "printed");
    server.check_echo("after closing");
    server.finish().check_soon();
}

/// A write to a file does not wait for a reader.
#[cfg(target_os = "linux")]
#[support::test]
fn a_pipe_is_relayed_and_a_file_is_not() {
    let file = |pid: u32, fd: i32| fs::read_link(format!("/proc/{pid}/fd/{fd}")).unwrap();
    let (mut server, stderr) = unread();
    server.check_echo("pipe");
    let own = file(std::process::id(), stderr.as_raw_fd());
    assert_ne!(file(server.pid(), 2), own);
    let mut server = Server::start_as(fixture_in_shell("2>/dev/null"));
    server.check_echo("file");
    assert_eq!(file(server.pid(), 2), Path::new("/dev/null"));
}

/// Sends a request to a server over HTTP, and returns the response.
fn ask(address: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(request.replace('\n', "\r\n").as_bytes()).unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response
}

#[support::test]
fn a_server_over_http_whose_stderr_is_full_answers_and_ends() {
    let mut command = fixture();
    command.args(["--http", "127.0.0.1:0"]);
    let (server, stderr) = Server::start_unread(command);
    let mut stderr = BufReader::new(stderr);
    let mut first = String::new();
    stderr.read_line(&mut first).unwrap();
    let (_, address) = first.trim().split_once("http://").expect("an address");
    let address = address.strip_suffix("/mcp").expect("the path");
    for n in 0..6 {
        let body = call(n, "print_lines", json!({ "lines": 500, "bytes": 1000 })).to_string();
        let response = ask(
            address,
            &format!(
                "POST /mcp HTTP/1.1\nHost: localhost\nConnection: close\nContent-Type: application/json\nAccept: application/json, text/event-stream\nMCP-Protocol-Version: 2026-07-28\nMcp-Method: tools/call\nMcp-Name: print_lines\nContent-Length: {}\n\n{body}",
                body.len()
            ),
        );
        assert!(response.contains(r#""text":"printed""#), "{response}");
        let healthy = ask(address, "GET /healthz HTTP/1.1\nHost: localhost\nConnection: close\n\n");
        assert!(healthy.starts_with("HTTP/1.1 200 "), "{healthy}");
    }
    server.terminate();
    let ended = server.wait();
    assert!(ended.status.success(), "{ended:?}");
}
