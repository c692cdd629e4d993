//! Clients that send more requests than they read answers, or more than the server can handle at once.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    thread,
    time::Duration,
};

use serde_json::{Value, json};
use support::clock::linger_blocking;

use crate::server::{Server, call, cancelled};

/// Returns the peak memory of the process, in bytes.
#[cfg(target_os = "linux")]
pub(crate) fn peak_memory(pid: u32) -> usize {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let kilobytes: usize = line.trim().trim_end_matches(" kB").parse().unwrap();
    kilobytes << 10
}

/// Returns 0, because only Linux reports the peak. The tests then check only the answers.
#[cfg(not(target_os = "linux"))]
pub(crate) fn peak_memory(_: u32) -> usize {
    0
}

/// Checks that all answers arrive, and that the server's memory stays below `bound` bytes, even while the client does not read.
#[track_caller]
fn check(calls: usize, tool: &str, bytes: usize, bound: usize) {
    let mut server = Server::start();
    let mut stdin = server.take_stdin();
    let stdout = server.take_stdout();
    let pid = server.pid();
    let writer = thread::spawn({
        let request = call("ID", tool, json!({ "bytes": bytes })).to_string();
        move || {
            for id in 0..calls {
                let line = request.replace("\"ID\"", &id.to_string());
                stdin.write_all(format!("{line}\n").as_bytes()).unwrap();
            }
            stdin
        }
    });
    // Gives the server time to read more requests than it should. If a slow machine needs longer, the second measurement of the peak
    // includes these requests.
    linger_blocking(Duration::from_secs(1));
    let peak = peak_memory(pid);
    support::note!(
        "{calls} calls of `{tool}`, {} MiB of answers unread: peak {} MiB",
        (calls * bytes) >> 20,
        peak >> 20
    );
    assert!(peak < bound, "{} MiB", peak >> 20);

    let mut seen = vec![false; calls];
    for line in BufReader::new(stdout).lines() {
        let line = line.unwrap();
        let id = line.strip_prefix("{\"jsonrpc\":\"2.0\",\"id\":").unwrap();
        let id: usize = id.split_once(',').unwrap().0.parse().unwrap();
        assert!(line.len() > bytes && !std::mem::replace(&mut seen[id], true), "{id}");
        if seen.iter().all(|seen| *seen) {
            break;
        }
    }
    let stdin = writer.join().unwrap();
    let peak = peak_memory(pid);
    support::note!("… and {} MiB once all was read", peak >> 20);
    assert!(peak < bound, "{} MiB", peak >> 20);
    drop(stdin);
    server.wait().check_soon();
}

pub(crate) const MIB: usize = 1 << 20;

#[support::test]
fn ten_thousand_unread_answers_are_not_kept() {
    check(10_000, "big", 20_000, 48 * MIB);
}

/// The server can read all of these requests at once, but does not keep all of their answers.
#[support::test]
fn large_unread_answers_are_not_all_kept() {
    check(200, "big", MIB, 48 * MIB);
}

/// These handlers wait before they answer, so the server has accepted every call before the first answer exists. It then keeps all answers,
/// even while the client does not read.
#[support::test]
fn answers_of_calls_that_waited_all_arrive() {
    check(1000, "big_later", 20_000, 96 * MIB);
}

/// Calls above the limit are rejected at once, never queued. The server accepts calls again when others have ended.
#[support::test]
fn more_calls_than_the_limit_are_refused() {
    const LIMIT: usize = 1024;
    let mut server = Server::start();
    let calls = LIMIT + 476;
    let all: String = (0..calls).map(|id| format!("{}\n", call(id, "hold", json!({})))).collect();
    server.write(all.as_bytes());
    for id in LIMIT..calls {
        let refused = server.message().unwrap();
        assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(id), &json!(-32603)));
        assert!(refused["error"]["message"].as_str().unwrap().contains("1024"), "{refused}");
    }
    // The server still answers a request that is not a call.
    server.send(&json!({ "jsonrpc": "2.0", "id": "ping", "method": "ping" }));
    assert_eq!(server.response("ping")["result"], json!({}));
    for id in 0..LIMIT {
        server.send(&cancelled(id));
    }
    server.check_echo("after");
    let ended = server.finish();
    ended.check_soon();
    assert_eq!(ended.rest, [] as [Value; 0]);
}
