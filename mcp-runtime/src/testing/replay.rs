//! Replays of recorded sessions, and the macro `assert_replays!`.

use std::{
    collections::{HashMap, VecDeque},
    env, fs,
    path::{Path, PathBuf},
    time::Duration,
};

use mcp_runtime_workbench::{Comparison, Difference, Sender, Transcript, TranscriptLine};
use serde_json::Value;
use tokio::time::timeout;

use super::TestClient;
use crate::{builder::Builder, error::ServeError, storage::MemoryStore};

/// Longest wait for a message of the server, however many others arrive.
const PATIENCE: Duration = Duration::from_secs(10);

/// The same after a message has not come, after the last message, and for a question that fits better.
const SHORT_PATIENCE: Duration = Duration::from_millis(200);

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
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        runtime.block_on(replay(builder(), &transcript)).map_err(|error| error.to_string())
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
) -> Result<Vec<String>, ServeError> {
    let client = TestClient::bare(builder.store(MemoryStore::new())).await?;
    let mut replay = Replay {
        client,
        comparison: Comparison::default(),
        methods: HashMap::new(),
        early: VecDeque::new(),
        patience: PATIENCE,
        differences: Vec::new(),
    };
    for (at, line) in transcript.lines.iter().enumerate() {
        match line.sender {
            Sender::Client => replay.send(line.message.clone()),
            Sender::Server => replay.expect(line, &transcript.lines[at + 1..]).await,
        }
    }
    Ok(replay.end().await)
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
    /// Methods of the requests of the client, by their ids as JSON.
    methods: HashMap<String, String>,
    /// Messages that have come, and belong to no recorded message yet.
    early: VecDeque<Value>,
    patience: Duration,
    differences: Vec<String>,
}

impl Replay {
    fn send(&mut self, mut message: Value) {
        if let Value::String(line) = &message {
            return self.client.send_raw(line.as_bytes());
        }
        self.comparison.translate(&mut message);
        if let (Some(id), Some(method)) = (message.get("id"), message["method"].as_str()) {
            self.methods.insert(id.to_string(), method.to_owned());
        }
        self.client.send_raw(message.to_string().as_bytes());
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
        // The question may be that of another call, which asked first. It must not get the answer that was recorded for this call.
        let may_be_other = is_question(&line.message)
            && later.iter().any(|line| line.sender == Sender::Server && is_of(&line.message, &key));
        if may_be_other && best.as_ref().is_some_and(|best| !best.differences.is_empty()) {
            let patience = self.patience.min(SHORT_PATIENCE);
            let better = async {
                while best.as_ref().is_some_and(|best| !best.differences.is_empty()) {
                    self.receive_until(&key).await;
                    best = self.best_of_early(&key, &line.message);
                }
            };
            let _ = timeout(patience, better).await;
        }
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
            self.receive().await;
            if self.early.back().is_some_and(|message| is_of(message, key)) {
                break;
            }
        }
    }

    /// Adds the next message to `early`.
    async fn receive(&mut self) {
        // A time limit ends at an await that is not ready at once, and a server may send without end.
        tokio::task::yield_now().await;
        if let Some(line) = self.client.receive_raw(Duration::MAX).await {
            let text = || String::from_utf8_lossy(&line).into_owned().into();
            self.early.push_back(serde_json::from_slice(&line).unwrap_or_else(|_| text()));
        }
    }

    /// Receives the messages that are not in the recording, and returns all differences.
    async fn end(mut self) -> Vec<String> {
        let _ = timeout(SHORT_PATIENCE, async {
            loop {
                self.receive().await;
            }
        })
        .await;
        for message in &self.early {
            let subject = self.subject(message);
            self.differences.push(format!("not in the recording: {subject}: {message}"));
        }
        self.client.close().await;
        self.differences
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

/// Returns the key by which a message of the server is matched with its recorded message: the id of its request, or its method.
fn key(message: &Value) -> String {
    match (message["method"].as_str(), message.get("id")) {
        (Some(method), _) => method.to_owned(),
        (None, Some(id)) => id.to_string(),
        (None, None) => String::new(),
    }
}

/// Returns whether a message of the server may belong to a recorded message of this key.
fn is_of(message: &Value, of: &str) -> bool {
    key(message) == of
}

/// Returns whether a message of the server is a request, which the client answers.
fn is_question(message: &Value) -> bool {
    message.get("method").is_some() && message.get("id").is_some()
}
