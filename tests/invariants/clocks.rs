//! Tests do not sleep or read a clock. Only the helper modules for time may do that.

use crate::sources::Source;

/// Words with which a test waits or measures time. A busy machine can make such a test fail.
const WORDS: [&str; 3] = ["sleep(", "Instant::now", "SystemTime::now"];

/// Files that may use these words, each with the reason. The first two contain the helpers for tests.
const EXCEPTED: [(&str, &str); 16] = [
    ("tests/support/clock.rs", "the helpers"),
    (
        "mcp-runtime/tests/behaviour/support.rs",
        "the helpers, for a crate that cannot use the others",
    ),
    ("tests/support/process.rs", "polls a child until it ends"),
    ("tests/support/http/connection.rs", "the patience of a client, which its caller says"),
    ("tests/support/http/fake.rs", WIRE),
    ("tests/support/http/replay.rs", "a step of a transcript that lets the clock jump"),
    ("tests/faults/fixture.rs", SERVER),
    ("tests/stdio/fixture.rs", SERVER),
    (
        "mcp-runtime/crates/authorization-server/src/logins.rs",
        "the time at which a code was issued: nothing waits for it to pass",
    ),
    ("examples/book/tests/", "`run` in `mod.rs` begins with the paused clock"),
    (
        "mcp-runtime/src/dispatch/pending/tests.rs",
        "all but one are on the paused clock, and that one waits for no more than the timeout that it is about",
    ),
    (
        "mcp-runtime/src/transport/http/expiry.rs",
        "tokens end by the clock of the machine: half a minute is no matter",
    ),
    (
        "mcp-runtime/tests/stdio_guard.rs",
        "readers that are slow: what they read does not depend on it",
    ),
    ("tests/wire/server/tools.rs", PAUSED),
    ("tests/wire/server/tasks.rs", PAUSED),
    ("tests/invariants/", "the words themselves"),
];
const SERVER: &str =
    "a server in a process of its own that keeps itself busy: no test waits for it by the clock";
const WIRE: &str = "sends bytes in pieces: read as one piece, they mean the same";
const PAUSED: &str = "a server whose clock the transcripts stop, or let jump";

/// Returns the lines of tests that sleep or read a clock, except on the paused clock.
pub(crate) fn violations(sources: &[Source]) -> Vec<String> {
    let checked = sources
        .iter()
        .filter(|source| !EXCEPTED.iter().any(|(path, _)| source.path.starts_with(path)));
    let violations = checked.flat_map(|source| {
        let is_paused = is_paused(source);
        source.find(|line| is_violation(line, is_paused))
    });
    violations.collect()
}

fn is_violation(line: &str, is_paused: bool) -> bool {
    let of_the_machine = ["thread::sleep(", "std::time::Instant", "SystemTime::now"];
    let words = if is_paused { &of_the_machine } else { &WORDS };
    words.iter().any(|word| line.contains(word))
}

/// Whether every runtime in the file starts with a paused clock, on which waits are exact and take no real time.
fn is_paused(source: &Source) -> bool {
    let has = |words: &[&str]| {
        source.lines.iter().any(|line| words.iter().any(|word| line.contains(word)))
    };
    let runs = [
        "#[tokio::test]",
        "#[tokio::test(flavor",
        "both_eras! {",
        "enable_all()",
        "time::{Duration, Instant}",
    ];
    has(&["start_paused", "both_eras_paused! {"]) && !has(&runs)
}

/// Returns exceptions for files that are gone, or that no longer need an exception.
pub(crate) fn stale(sources: &[Source]) -> Vec<String> {
    let is_needed = |path: &str| {
        let of = |source: &&Source| source.path.starts_with(path);
        sources
            .iter()
            .filter(of)
            .any(|source| !source.find(|line| is_violation(line, false)).is_empty())
    };
    let stale = EXCEPTED.iter().filter(|exception| !is_needed(exception.0));
    stale.map(|exception| format!("{} needs no exception", exception.0)).collect()
}
