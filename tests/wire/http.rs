//! Conversations over HTTP: `http/<revision>/<name>.jsonl`, each replayed against a server of its own on loopback.
//!
//! `tests/support/http/transcript.rs` lists the steps of a transcript. Folders and replaced texts are those of
//! the conversations in memory.

mod rules;

use std::path::Path;

use support::{http::transcript::Transcript, schema::REVISIONS};

use crate::{replaced, revisions, texts_in};

/// Every transcript, once for each of its revisions.
fn transcripts() -> Vec<Transcript> {
    let mut transcripts = Vec::new();
    for (folder, name, text) in texts_in(&Path::new(env!("CARGO_MANIFEST_DIR")).join("wire/http")) {
        for revision in revisions(&folder) {
            let name = format!("{name} (in {folder})");
            let transcript = Transcript::parse(&name, revision, &replaced(&text, revision));
            transcripts.push(transcript.unwrap_or_else(|error| panic!("{error}")));
        }
    }
    transcripts
}

#[test]
fn every_revision_has_transcripts() {
    let transcripts = transcripts();
    for revision in REVISIONS {
        let count = transcripts.iter().filter(|it| it.revision == revision).count();
        assert!(count >= 3, "{revision} has {count}");
    }
}
