//! Replays of recorded sessions, and the macro `assert_replays!`.

use std::{
    collections::{HashMap, VecDeque},
    env, fs,
    path::{Path, PathBuf},
    time::Duration,
};

use mcp_runtime_workbench::{Comparison, Sender, Transcript, TranscriptLine};
use serde_json::Value;

use super::TestClient;
use crate::{builder::Builder, error::ServeError, storage::MemoryStore};

/// Longest wait for a message of the server.
const PATIENCE: Duration = Duration::from_secs(10);

/// The same after a message has not come, and after the last message.
const SHORT_PATIENCE: Duration = Duration::from_millis(200);

/// Fails the test if the server answers otherwise than in a recorded session.
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
/// another order. Missing and additional messages are differences. Ids of tasks and of requests of the server, states, cursors and times of
/// tasks are chosen anew, and the version of the server may change. A recorded text `<removed>` stands for every value, and within a text for
/// every part: write it into the file in place of values that are never the same.
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
    for line in &transcript.lines {
        match line.sender {
            Sender::Client => replay.send(line.message.clone()),
            Sender::Server => replay.expect(line).await,
        }
    }
    Ok(replay.end().await)
}

struct Replay {
    client: TestClient,
    comparison: Comparison,
    /// Methods of the requests of the client, by their ids as JSON.
    methods: HashMap<String, String>,
    /// Messages that the server has sent before their turn.
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

    /// Waits for the message that belongs to a recorded message of the server, and compares the two.
    async fn expect(&mut self, line: &TranscriptLine) {
        let number = line.number;
        let subject = self.subject(&line.message);
        let is_meant = |message: &Value| key(message) == key(&line.message);
        let found = match self.early.iter().position(is_meant) {
            Some(at) => self.early.remove(at),
            None => loop {
                match self.receive().await {
                    Some(message) if is_meant(&message) => break Some(message),
                    Some(message) => self.early.push_back(message),
                    None => break None,
                }
            },
        };
        let Some(message) = found else {
            self.patience = SHORT_PATIENCE;
            return self.differences.push(format!("line {number}: {subject} is missing"));
        };
        for difference in self.comparison.compare(&line.message, &message) {
            self.differences.push(format!("line {number}: {subject}: {difference}"));
        }
    }

    async fn receive(&mut self) -> Option<Value> {
        let line = self.client.receive_raw(self.patience).await?;
        let text = || String::from_utf8_lossy(&line).into_owned().into();
        Some(serde_json::from_slice(&line).unwrap_or_else(|_| text()))
    }

    /// Returns the differences, after the messages have come that are not in the recording.
    async fn end(mut self) -> Vec<String> {
        self.patience = SHORT_PATIENCE;
        while let Some(message) = self.receive().await {
            self.early.push_back(message);
        }
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

/// Returns the text that a message of the server has in common with its recorded message: the id of its request, or its method.
fn key(message: &Value) -> String {
    match (message["method"].as_str(), message.get("id")) {
        (Some(method), _) => method.to_owned(),
        (None, Some(id)) => id.to_string(),
        (None, None) => String::new(),
    }
}
