//! Conversations with the server, byte for byte: `<revision>/<name>.jsonl`, replayed in memory, and
//! `http/<revision>/<name>.jsonl`, replayed over loopback (see `http.rs`).
//!
//! `tests/support/transcript.rs` lists the steps of a transcript, and `pattern.rs` lists the wildcards. A folder is named after a revision,
//! or `<first>..<last>` after a range of revisions. Its transcripts are replayed in each of these revisions. Some texts are replaced before
//! a transcript is read:
//!
//! | text | becomes |
//! |---|---|
//! | `REVISION` | the revision in which the transcript is replayed |
//! | `"UNREAD"` | the `id` of an error whose request could not be read: null, and absent since 2025-11-25 |
//! | `"ENVELOPE": true` | the two members that `_meta` of a request must have since 2026-07-28 |
//! | `"SERVED": true` | the member that `_meta` of a result has since 2026-07-28 |

#![forbid(unsafe_code)]

mod accepted;
mod complaints;
mod echoes;
mod http;
mod noise;
mod server;

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    sync::Once,
    time::Duration,
};

use mcp_runtime::testing::TestClient;
use serde_json::{Value, json};
use support::{
    replay::{Wire, replay},
    schema::{Asked, REVISIONS, Schema},
    transcript::Transcript,
};
use tracing_subscriber::layer::SubscriberExt as _;

const ENVELOPE: &str = r#""io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}"#;
const SERVED: &str = r#""io.modelcontextprotocol/serverInfo": {"name": "fixture", "version": "1.2.3", "description": "Whole-server tests of mcp-runtime"}"#;

struct Memory(TestClient);

impl Wire for Memory {
    async fn send(&mut self, line: &[u8]) {
        self.0.send_raw(line);
    }

    async fn receive(&mut self, patience: Duration) -> Option<Vec<u8>> {
        self.0.receive_raw(patience).await
    }
}

/// Installs the layer that sends log events to clients. The server declares the capability `logging` only if this layer is installed. A
/// process has only one global subscriber, so all tests share it.
fn log_to_clients() {
    static LOGGING: Once = Once::new();
    LOGGING.call_once(|| {
        let subscriber = tracing_subscriber::registry().with(mcp_runtime::logging::client_log());
        tracing::subscriber::set_global_default(subscriber).expect("no other subscriber");
    });
}

/// Runs `test` with a clock that jumps when all tokio tasks are idle. A wait for silence therefore takes no real time, and ends only when
/// no further message can come.
fn block_on<T>(test: impl Future<Output = T>) -> T {
    log_to_clients();
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_time().start_paused(true).build().expect("a runtime").block_on(test)
}

/// Returns the revisions in which the transcripts of a folder with this name are replayed.
fn revisions(folder: &str) -> &'static [&'static str] {
    let (first, last) = folder.split_once("..").unwrap_or((folder, folder));
    let index = |name| REVISIONS.iter().position(|revision| *revision == name);
    match (index(first), index(last)) {
        (Some(first), Some(last)) if first <= last => &REVISIONS[first..=last],
        _ => panic!("`{folder}` names no revisions"),
    }
}

/// Returns the sorted paths in a folder, or an empty list if `folder` is a file.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}

/// Returns every transcript two levels below a folder: the name of its own folder, the name of the transcript, and its text.
fn texts_in(folder: &Path) -> Vec<(String, String, String)> {
    let mut texts = Vec::new();
    for path in entries(folder).iter().flat_map(|subfolder| entries(subfolder)) {
        let part = |name: Option<&OsStr>| name.and_then(OsStr::to_str).map(str::to_owned);
        let folder = part(path.parent().and_then(Path::file_name)).expect("a folder in UTF-8");
        let name = part(path.file_stem()).expect("a name in UTF-8");
        if path.extension().is_some_and(|extension| extension == "jsonl") {
            texts.push((folder, name, fs::read_to_string(&path).expect("a text in UTF-8")));
        }
    }
    texts
}

fn texts() -> Vec<(String, String, String)> {
    texts_in(Path::new(env!("CARGO_MANIFEST_DIR")))
}

/// Returns the text of a transcript as it is replayed in this revision.
fn replaced(text: &str, revision: &str) -> String {
    let unread = if revision < "2025-11-25" { "null" } else { r#"{"$absent": true}"# };
    text.replace("REVISION", revision)
        .replace("\"UNREAD\"", unread)
        .replace("\"ENVELOPE\": true", ENVELOPE)
        .replace("\"SERVED\": true", SERVED)
}

/// Returns every transcript, once for each of its revisions.
fn transcripts() -> Vec<Transcript> {
    let mut transcripts = Vec::new();
    for (folder, name, text) in texts() {
        for revision in revisions(&folder) {
            let name = format!("{name} (in {folder})");
            let transcript = Transcript::parse(&name, revision, &replaced(&text, revision));
            transcripts.push(transcript.unwrap_or_else(|error| panic!("{error}")));
        }
    }
    transcripts
}

#[test]
fn the_server_answers_as_its_transcripts_expect() {
    let mut failures = Vec::new();
    for transcript in transcripts() {
        let server = server::named(transcript.with.as_deref().unwrap_or("fixture"));
        let replayed = block_on(async {
            let mut wire = Memory(TestClient::bare(server).await.expect("the server starts"));
            replay(&transcript, &mut wire).await
        });
        failures.extend(replayed.err());
    }
    assert!(failures.is_empty(), "{} failed:\n\n{}", failures.len(), failures.join("\n\n"));
}

#[test]
fn every_revision_has_transcripts_of_its_own_or_shared_ones() {
    let transcripts = transcripts();
    for revision in REVISIONS {
        let count = transcripts.iter().filter(|transcript| transcript.revision == revision).count();
        assert!(count >= 20, "{revision} has {count}");
    }
}

/// A server that stops cancels each `subscriptions/listen` request, and then answers it with the empty result (rule SUB-04). Other calls
/// get no cancellation and no empty result.
#[test]
fn streams_are_ended_when_the_server_stops() {
    let said = block_on(async {
        let mut client = TestClient::connect(server::named("fixture")).await.expect("a server");
        client.listen(json!({ "toolsListChanged": true })).await.expect("a stream");
        client.listen(json!({})).await.expect("a stream");
        client.start("tools/call", json!({ "name": "wait" }));
        client.close().await
    });
    let said: Vec<Value> =
        said.iter().map(|line| serde_json::from_slice(line).expect("JSON")).collect();
    let mut asked = Asked::default();
    let mut expected = Vec::new();
    let served = json!({
        "name": "fixture",
        "version": "1.2.3",
        "description": "Whole-server tests of mcp-runtime",
    });
    for id in [1, 2] {
        asked.note(&json!({ "id": id, "method": "subscriptions/listen" }));
        let tag = "io.modelcontextprotocol/subscriptionId";
        expected.push(json!({
            "jsonrpc": "2.0",
            "method": "notifications/cancelled",
            "params": { "requestId": id, "reason": "the server is stopping", "_meta": { tag: id } },
        }));
        let meta = json!({ tag: id, "io.modelcontextprotocol/serverInfo": served });
        let result = json!({ "resultType": "complete", "_meta": meta });
        expected.push(json!({ "jsonrpc": "2.0", "id": id, "result": result }));
    }
    assert_eq!(said, expected);
    let schema = Schema::of("2026-07-28");
    said.iter().for_each(|message| schema.check(message, &asked).expect("conforms"));
}

/// The server sends nothing for a cancelled call, even if a blocking handler learns of the cancellation late (rule STDIO-05).
#[test]
fn progress_of_a_cancelled_handler_is_not_sent() {
    block_on(async {
        let mut client = TestClient::connect(server::named("fixture")).await.expect("a server");
        let meta = json!({ "progressToken": 1 });
        let call = client.start("tools/call", json!({ "name": "stubborn", "_meta": meta }));
        let first = client.notification(Duration::from_secs(10)).await.expect("a report");
        assert_eq!(first["params"]["progress"], 1);
        client.cancel(call);
        // Blocks the runtime, so that only the handler's own thread continues.
        support::clock::linger_blocking(Duration::from_millis(50));
        assert_eq!(client.notification(Duration::from_millis(50)).await, None);
    });
}
