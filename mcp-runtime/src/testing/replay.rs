//! Replays of recorded sessions, and the macro `assert_replays!`.

use std::{
    collections::{HashMap, VecDeque},
    env, fs,
    path::{Path, PathBuf},
    time::Duration,
};

use mcp_runtime_workbench::{Comparison, Difference, Sender, Transcript, TranscriptLine};
use serde_json::Value;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::{TestClient, replayed_log::LogComparison};
use crate::{builder::Builder, error::ServeError, storage::MemoryStore};

/// Longest wait for a message of the server, while no message is missing. Other messages do not prolong it.
const PATIENCE: Duration = Duration::from_secs(10);

/// Longest wait for each message after the first that is missing, for more messages after the last, and for a message that fits better.
const SHORT_PATIENCE: Duration = Duration::from_millis(200);

/// Longest wait in a whole replay for notifications that fit better.
const PATIENCE_FOR_BETTER: Duration = Duration::from_secs(2);

/// Time between two polls for the same task.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Fails the test if the answers of the server differ from those in a recorded session.
///
/// The command `record FILE` of the server writes the file while a client uses the server: `cargo run --features mcp-runtime/workbench --
/// record bug.jsonl`. The macro sends the recorded messages of the client to the server, in the same order, and compares the messages of
/// the server with the recorded ones. The command `replay FILE` does the same.
///
/// Needs the feature `workbench`: `cargo add --dev mcp-runtime --features workbench`.
///
/// ```standalone_crate
/// use mcp_runtime::{prelude::*, testing::assert_replays};
///
/// /// Adds two numbers.
/// #[tool]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// # /*
/// #[test]
/// # */
/// fn the_sum_is_right() {
///     # let file = std::env::temp_dir().join(format!("mcp-replay-{}.jsonl", std::process::id()));
///     # std::fs::write(&file, r#"{"client": {"jsonrpc": "2.0", "id": 1, "method": "ping"}}
///     # {"server": {"jsonrpc": "2.0", "id": 1, "result": {}}}"#).unwrap();
///     # /*
///     assert_replays!("sessions/sum.jsonl");
///     # */
///     # assert_replays!(mcp_runtime::server!(), &file);
///     # std::fs::remove_file(file).unwrap();
/// }
/// # the_sum_is_right();
/// ```
///
/// | written | replays |
/// |---|---|
/// | `assert_replays!("bug.jsonl")` | the file with `server!()`; a relative path begins at the crate's `Cargo.toml` |
/// | `assert_replays!(server(), "bug.jsonl")` | the file with this [`Builder`](crate::Builder) |
///
/// The server of the test keeps sessions and tasks in memory, instead of in its store. Its `setup` runs, so the test needs the state and the
/// values of `#[config]` that the recorded calls need.
///
/// # What is compared
/// Each message of the server is compared with the next recorded one of the same request or method, so that independent calls may end in
/// another order. Among several messages of the same method, the one with the fewest differences counts. Missing and additional messages
/// are differences.
///
/// Some values may differ, because each server chooses them anew: the version of the server, ids of tasks, of requests of the server and of
/// elicitations, request states, cursors, and times of tasks. A recorded text `<removed>` stands for every value, and within a text for every
/// part. Write it into the file in place of values that are never the same.
///
/// If the recorded server sends log messages to clients, the macro installs the subscriber of `.run()`. Messages of the log are not compared if
/// the test has another subscriber without [`client_log`](crate::logging::client_log), and neither is the capability `logging`.
///
/// # Times
/// The recording has no times. The macro sends each message of the client as soon as the messages of the server before it have come, and
/// repeats a `tasks/get` while the task has an earlier status than the recorded one. It waits ten seconds for each message, so a call that
/// takes longer is reported as missing. After the first missing message it waits 200 ms for each further one, so read the first difference
/// first.
///
/// # Panics
/// Panics with all differences if there are any. Also panics if the file cannot be read, or if the server cannot be built or started.
#[doc(hidden)]
#[macro_export]
macro_rules! __assert_replays {
    ($file:literal $(,)?) => {
        $crate::__assert_replays!($crate::server!(crate = $crate), $file)
    };
    ($builder:expr, $file:expr $(,)?) => {
        $crate::__private::assert_replays(
            || $builder,
            ::core::env!("CARGO_MANIFEST_DIR"),
            ::core::convert::AsRef::<::std::path::Path>::as_ref($file),
        )
    };
}

/// Implements the macro. `folder` is the crate's folder at compile time. The crate may have moved since then, so `CARGO_MANIFEST_DIR` at
/// run time takes precedence.
#[track_caller]
pub fn assert_replays(builder: impl FnOnce() -> Builder + Send, folder: &str, file: &Path) {
    let folder = env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| folder.into(), PathBuf::from);
    let file = folder.join(file);
    let replayed = || -> Result<Vec<String>, String> {
        let transcript = read(&file)?;
        let log = LogComparison::in_test(&transcript);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        let replayed = runtime.block_on(replay(builder(), &transcript, log));
        // A blocking job that never ends must not hide the differences.
        runtime.shutdown_background();
        replayed.map_err(|error| error.to_string())
    };
    // A test may run on a runtime, which must not start another one.
    let replayed = std::thread::scope(|scope| scope.spawn(replayed).join());
    match replayed {
        Ok(Ok(differences)) if differences.is_empty() => {}
        Ok(Ok(differences)) => panic!("{}:\n{}", file.display(), differences.join("\n")),
        Ok(Err(error)) => panic!("{error}"),
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// Reads the file of a recorded session.
///
/// # Errors
/// Returns the text of the error, with the path.
pub(crate) fn read(file: &Path) -> Result<Transcript, String> {
    let shown = file.display();
    let text = fs::read_to_string(file).map_err(|error| format!("{shown}: {error}"))?;
    Transcript::parse(&text).map_err(|error| format!("{shown}: {error}"))
}

/// Sends the recorded messages of a client to the server, and compares the answers. Returns the differences, each with the line of the file.
///
/// # Errors
/// Fails if the server cannot be built or started.
pub(crate) async fn replay(
    builder: Builder,
    transcript: &Transcript,
    log: LogComparison,
) -> Result<Vec<String>, ServeError> {
    let client = TestClient::bare(builder.store(MemoryStore::new())).await?;
    let replay = Replay {
        client,
        comparison: Comparison::default(),
        log,
        methods: HashMap::new(),
        polls: HashMap::new(),
        early: VecDeque::new(),
        patience: PATIENCE,
        patience_for_better: PATIENCE_FOR_BETTER,
        differences: Vec::new(),
    };
    Ok(replay.run(&log.compared(&transcript.lines)).await)
}

/// Message that may belong to a recorded one.
struct Candidate {
    /// Place in [`Replay::early`].
    at: usize,
    /// State of the comparison if this message belongs to the recorded message.
    comparison: Comparison,
    differences: Vec<Difference>,
}

struct Replay {
    client: TestClient,
    comparison: Comparison,
    log: LogComparison,
    /// Methods of the requests of the client, by their ids as JSON.
    methods: HashMap<String, String>,
    /// Requests for the status of a task, by their ids as JSON. `None` for other requests.
    polls: HashMap<String, Option<String>>,
    /// Messages that have come, and belong to no recorded message yet.
    early: VecDeque<Value>,
    patience: Duration,
    /// Rest of [`PATIENCE_FOR_BETTER`].
    patience_for_better: Duration,
    differences: Vec<String>,
}

impl Replay {
    /// Replays all lines. Returns the differences.
    async fn run(mut self, lines: &[TranscriptLine]) -> Vec<String> {
        let last = lines.iter().rposition(|line| line.sender == Sender::Client);
        let (session, rest) = lines.split_at(last.map_or(0, |last| last + 1));
        for (at, line) in session.iter().enumerate() {
            match line.sender {
                Sender::Client => self.send(line.message.clone()),
                Sender::Server => self.expect(line, &lines[at + 1..]).await,
            }
        }
        // The client has closed its side at an unknown time after its last message, and the server has ended the open streams.
        let (ends, others): (Vec<_>, Vec<_>) =
            rest.iter().cloned().partition(|line| self.is_end_of_stream(&line.message));
        self.expect_all(&others).await;
        self.client.end_streams();
        self.expect_all(&ends).await;
        let _ = timeout(SHORT_PATIENCE, async {
            loop {
                self.receive().await;
            }
        })
        .await;
        for message in &self.early {
            // A recorder that was ended with its client has recorded no ends.
            if ends.is_empty() && self.is_end_of_stream(message) {
                continue;
            }
            let subject = self.subject(message);
            self.differences.push(format!("not in the recording: {subject}: {message}"));
        }
        self.client.close().await;
        self.differences
    }

    fn send(&mut self, mut message: Value) {
        if let Value::String(line) = &message {
            return self.client.send_raw(&sent_bytes(line));
        }
        self.comparison.translate(&mut message);
        if let (Some(id), Some(method)) = (message.get("id"), message["method"].as_str()) {
            self.methods.insert(id.to_string(), method.to_owned());
            let poll = (method == "tasks/get").then(|| message.to_string());
            self.polls.insert(id.to_string(), poll);
        }
        self.client.send_raw(message.to_string().as_bytes());
    }

    async fn expect_all(&mut self, lines: &[TranscriptLine]) {
        for (at, line) in lines.iter().enumerate() {
            self.expect(line, &lines[at + 1..]).await;
        }
    }

    /// Waits for the message that belongs to a recorded message of the server, and compares the two. `later` are the lines after it.
    async fn expect(&mut self, line: &TranscriptLine, later: &[TranscriptLine]) {
        let number = line.number;
        let subject = self.subject(&line.message);
        let key = key(&line.message);
        let mut best = self.best_of_early(&key, &line.message);
        if best.is_none() {
            let _ = timeout(self.patience, self.receive_until(&key)).await;
            best = self.best_of_early(&key, &line.message);
        }
        if best.as_ref().is_some_and(|best| !best.differences.is_empty())
            && may_be_other(&line.message, &key, later)
        {
            self.wait_for_better(&mut best, &key, &line.message).await;
        }
        self.poll_until(&mut best, &key, &line.message).await;
        let Some(best) = best else {
            self.patience = SHORT_PATIENCE;
            return self.differences.push(format!("line {number}: {subject} is missing"));
        };
        self.early.remove(best.at);
        self.comparison = best.comparison;
        for difference in best.differences {
            self.differences.push(format!("line {number}: {subject}: {difference}"));
        }
    }

    /// Waits for a message without differences. `best` may be the message of another call, which was the first to send one.
    async fn wait_for_better(&mut self, best: &mut Option<Candidate>, key: &str, was: &Value) {
        let begin = Instant::now();
        // A question must not get the answer that was recorded for another call. A notification is only compared, and there may be many.
        let longest = if is_question(was) { SHORT_PATIENCE } else { self.patience_for_better };
        let end = begin + self.patience.min(SHORT_PATIENCE).min(longest);
        while best.as_ref().is_some_and(|best| !best.differences.is_empty())
            && timeout_at(end, self.receive_until(key)).await.is_ok()
        {
            *best = self.best_of_early(key, was);
        }
        if !is_question(was) {
            self.patience_for_better = self.patience_for_better.saturating_sub(begin.elapsed());
        }
    }

    /// If `best` is the response to a poll for a task, repeats the poll while the task has an earlier status than the recorded one. The recorded
    /// client has waited before its poll.
    async fn poll_until(&mut self, best: &mut Option<Candidate>, key: &str, was: &Value) {
        let Some(Some(poll)) = self.polls.get(key).cloned() else { return };
        let end = Instant::now() + self.patience;
        while let Some(early) = best.as_ref().map(|best| best.at)
            && is_earlier_status(&self.early[early], was)
            && Instant::now() < end
        {
            sleep(POLL_INTERVAL).await;
            self.client.send_raw(poll.as_bytes());
            if timeout_at(end, self.receive_until(key)).await.is_ok() {
                self.early.remove(early);
            }
            *best = self.best_of_early(key, was);
        }
    }

    /// Compares the messages that have come with a recorded message. Returns the first that has the fewest differences.
    fn best_of_early(&self, key: &str, was: &Value) -> Option<Candidate> {
        let early = self.early.iter().enumerate().filter(|(_, message)| is_of(message, key));
        let candidates = early.map(|(at, message)| {
            let mut comparison = self.comparison.clone();
            let differences = comparison.compare(was, message);
            Candidate { at, comparison, differences }
        });
        candidates.min_by_key(|candidate| candidate.differences.len())
    }

    /// Adds messages to `early`, until one has this key.
    ///
    /// # Cancel safety
    /// Cancel safe. No message is lost if the future is dropped.
    async fn receive_until(&mut self, key: &str) {
        loop {
            let is_compared = self.receive().await;
            if is_compared && self.early.back().is_some_and(|message| is_of(message, key)) {
                break;
            }
        }
    }

    /// Adds the next message to `early`, if it is compared. Returns whether it is.
    async fn receive(&mut self) -> bool {
        // A time limit ends at an await that is not ready at once, and a server may send without end.
        tokio::task::yield_now().await;
        let Some(line) = self.client.receive_raw(Duration::MAX).await else { return false };
        let text = || String::from_utf8_lossy(&line).into_owned().into();
        let message = serde_json::from_slice(&line).unwrap_or_else(|_| text());
        let compared = self.log.compared_message(message);
        let is_compared = compared.is_some();
        self.early.extend(compared);
        is_compared
    }

    /// Returns whether this message ends a stream of the client.
    fn is_end_of_stream(&self, message: &Value) -> bool {
        let id = match message["method"].as_str() {
            Some("notifications/cancelled") => &message["params"]["requestId"],
            Some(_) => return false,
            None => &message["id"],
        };
        self.methods.get(&id.to_string()).is_some_and(|method| method == "subscriptions/listen")
    }

    /// Names a message of the server for a report.
    fn subject(&self, message: &Value) -> String {
        match (message["method"].as_str(), message.get("id")) {
            (Some(method), _) => format!("`{method}`"),
            (None, Some(id)) => match self.methods.get(&id.to_string()) {
                Some(method) => format!("the response to {id} (`{method}`)"),
                None => format!("the response to {id}"),
            },
            (None, None) => "a message".to_owned(),
        }
    }
}

/// Returns the key by which a message of the server is matched with its recorded message: the id of its request, or its method. Progress also
/// belongs to a request, and the client has chosen its token.
fn key(message: &Value) -> String {
    match (message["method"].as_str(), message.get("id")) {
        (Some(method @ "notifications/progress"), _) => {
            format!("{method} {}", message["params"]["progressToken"])
        }
        (Some(method), _) => method.to_owned(),
        (None, Some(id)) => id.to_string(),
        (None, None) => String::new(),
    }
}

/// Returns whether a message of the server may belong to a recorded message of this key.
fn is_of(message: &Value, of: &str) -> bool {
    key(message) == of
}

/// Returns whether another call may have sent a message of this key: a request or a notification, of which more are recorded.
fn may_be_other(was: &Value, key: &str, later: &[TranscriptLine]) -> bool {
    let mut later = later.iter().filter(|line| line.sender == Sender::Server);
    was.get("method").is_some() && later.any(|line| is_of(&line.message, key))
}

/// Returns whether a message of the server is a request, which the client answers.
fn is_question(message: &Value) -> bool {
    message.get("method").is_some() && message.get("id").is_some()
}

/// Returns whether a task has a status that comes before the recorded one. Each response contains the status of its task.
fn is_earlier_status(message: &Value, recorded: &Value) -> bool {
    let rank = |message: &Value| match message["result"]["status"].as_str()? {
        "working" => Some(0),
        "input_required" => Some(1),
        _ => Some(2),
    };
    rank(message).zip(rank(recorded)).is_some_and(|(is, was)| is < was)
}

/// Returns the bytes of a line that was no message. If its text is a message, the recorder has written U+FFFD in place of bytes that are not
/// UTF-8.
fn sent_bytes(line: &str) -> Vec<u8> {
    let message = serde_json::from_str::<Value>(line);
    if !message.is_ok_and(|message| message.is_object() || message.is_array()) {
        return line.into();
    }
    let parts: Vec<&[u8]> = line.split(char::REPLACEMENT_CHARACTER).map(str::as_bytes).collect();
    parts.join(&0xff)
}
