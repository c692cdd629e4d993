//! Conversations over HTTP: `http/<revision>/<name>.jsonl`, each replayed against a server of its own on loopback.
//!
//! `tests/support/http/transcript.rs` lists the steps of a transcript. The names of folders and the replaced texts are the same as for the
//! conversations in memory (`main.rs`).

mod rules;
mod settings;

use std::{collections::BTreeSet, path::Path, sync::Mutex, thread, time::Duration};

use support::{
    http::{connection::Connection, replay::replay, transcript::Transcript},
    schema::REVISIONS,
};
use tokio::sync::oneshot;

use crate::{log_to_clients, replaced, revisions, server, texts_in};

/// Time that a server gets to stop after its transcript, by the clock of the runtime: twice the default grace period.
const STOP: Duration = Duration::from_secs(10);

/// Returns every transcript, once for each of its revisions.
fn transcripts() -> Vec<Transcript> {
    let mut transcripts = Vec::new();
    for (folder, name, text) in texts_in(&Path::new(env!("CARGO_MANIFEST_DIR")).join("http")) {
        for revision in revisions(&folder) {
            let name = format!("{name} (in {folder})");
            let transcript = Transcript::parse(&name, revision, &replaced(&text, revision));
            transcripts.push(transcript.unwrap_or_else(|error| panic!("{error}")));
        }
    }
    transcripts
}

/// Runs `test` on a runtime for one server and its clients. A transcript may let the clock of this runtime jump.
fn block_on<T>(test: impl Future<Output = T>) -> T {
    log_to_clients();
    support::clock::in_step(test)
}

/// Replays a transcript against its server, and checks that the server stops afterwards.
async fn held(transcript: &Transcript) -> Result<(), String> {
    let server = server::named(transcript.with.as_deref().unwrap_or("fixture"));
    let server = settings::applied(server, &transcript.settings);
    let server = server.bind_http("127.0.0.1:0").await.expect("the server starts");
    let address = server.local_addr();
    let (stop, stopped) = oneshot::channel();
    let serving = tokio::spawn(server.serve_until(async {
        // A dropped sender stops the server too.
        let _ = stopped.await;
    }));
    let mut stop = Some(stop);
    let mut tell = || {
        stop.take().map(|stop| stop.send(()));
    };
    let replayed = replay(transcript, address, &mut tell).await;
    drop(stop);
    match tokio::time::timeout(STOP, serving).await {
        Ok(Ok(Ok(()))) => replayed,
        Ok(other) => Err(format!("{}: the server ended with {other:?}", transcript.name)),
        Err(_) => Err(format!("{}: the server does not stop", transcript.name)),
    }
}

#[test]
fn the_server_answers_as_its_transcripts_expect() {
    let left = Mutex::new(transcripts());
    let failures = Mutex::new(Vec::new());
    // Transcripts mostly wait for silence, which takes real time, so many of them run at once.
    thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                loop {
                    let Some(transcript) = left.lock().expect("no panic").pop() else { return };
                    let failure = block_on(held(&transcript)).err();
                    failures.lock().expect("no panic").extend(failure);
                }
            });
        }
    });
    let mut failures = failures.into_inner().expect("no panic");
    failures.sort();
    assert!(failures.is_empty(), "{} failed:\n\n{}", failures.len(), failures.join("\n\n"));
}

#[test]
fn every_revision_has_transcripts() {
    let transcripts = transcripts();
    for revision in REVISIONS {
        let count = transcripts.iter().filter(|transcript| transcript.revision == revision).count();
        assert!(count >= 3, "{revision} has {count}");
    }
}

/// Session ids are visible ASCII, long, and unique (rule HL-16).
#[test]
fn session_ids_are_visible_and_unique() {
    let ids = block_on(async {
        let server = server::named("fixture").bind_http("127.0.0.1:0").await.expect("a server");
        let address = server.local_addr();
        tokio::spawn(server.serve());
        let mut ids = BTreeSet::new();
        for _ in 0..50 {
            let body = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"tester","version":"0"}}}"#;
            let request = format!(
                "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            );
            let mut connection = Connection::open(address).await.expect("a connection");
            connection.send(request.as_bytes(), STOP).await.expect("a request");
            let head = connection.head(false, STOP).await.expect("a response");
            ids.insert(head.get("mcp-session-id").expect("a session"));
        }
        ids
    });
    assert_eq!(ids.len(), 50);
    for id in ids {
        assert!(id.len() >= 32 && id.bytes().all(|byte| matches!(byte, 0x21..=0x7e)), "{id}");
    }
}
