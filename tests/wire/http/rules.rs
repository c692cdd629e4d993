//! The rules of the specification, and the transcripts that test each of them.

use std::{collections::BTreeSet, path::Path};

use support::http::transcript::Transcript;

use crate::{replaced, revisions, texts_in};

/// Transcripts that test a rule, or the reason why none does.
enum Held {
    /// Transcripts, as `<folder>/<name>`. A comment in each of them names the rule.
    In(&'static [&'static str]),
    /// No transcript tests the rule, for this reason.
    Elsewhere(&'static str),
}

use Held::{Elsewhere, In};

const RULES: [(&str, Held); 77] = [
    ("SSE-01", In(&["2024-11-05/sse", "2024-11-05/sse_wrong"])),
    ("SSE-02", In(&["2024-11-05/sse", "2024-11-05/sse_sessions"])),
    ("SSE-03", In(&["2024-11-05/sse"])),
    ("SSE-04", In(&["2024-11-05/sse_wrong"])),
    ("SSE-05", In(&["2024-11-05/sse", "2024-11-05/sse_sessions", "2024-11-05/sse_wrong"])),
    ("SSE-06", In(&["2024-11-05/sse_off", "2024-11-05/sse_sessions"])),
    ("HL-01", In(&["2025-03-26..2025-11-25/handshake"])),
    ("HL-02", In(&["2025-03-26..2025-11-25/origin"])),
    ("HL-03", Elsewhere("the address is the author's; that of `--http` is the command line's")),
    ("HL-04", In(&["2025-03-26..2025-11-25/handshake", "2025-03-26..2025-11-25/errors"])),
    ("HL-05", In(&["2025-03-26..2025-11-25/stream", "2025-03-26/batch"])),
    ("HL-06", In(&["2025-03-26..2025-11-25/stream", "2025-03-26/batch"])),
    ("HL-07", In(&["2025-03-26..2025-11-25/stream", "2025-03-26..2025-06-18/release"])),
    ("HL-08", In(&["2025-11-25/priming", "2025-11-25/release"])),
    ("HL-09", In(&["2025-03-26..2025-11-25/stream", "2025-03-26..2025-11-25/get"])),
    ("HL-10", In(&["2025-03-26..2025-11-25/disconnect"])),
    ("HL-11", In(&["2025-03-26..2025-11-25/get"])),
    ("HL-12", In(&["2025-03-26..2025-11-25/get", "2025-03-26..2025-11-25/resume"])),
    ("HL-13", In(&["2025-03-26..2025-11-25/get", "2025-03-26..2025-11-25/resume_taken"])),
    // All other transcripts with event ids test this rule too, because the replay rejects an id that comes twice.
    ("HL-14", In(&["2025-03-26..2025-11-25/stream", "2025-03-26..2025-11-25/get"])),
    ("HL-15", In(&["2025-03-26..2025-11-25/resume", "2025-03-26..2025-11-25/resume_gone"])),
    // `session_ids_are_visible_and_unique` tests this rule too.
    ("HL-16", In(&["2025-03-26..2025-11-25/handshake", "2024-11-05/sse_off"])),
    ("HL-17", In(&["2025-03-26..2025-11-25/sessions"])),
    ("HL-18", In(&["2025-03-26..2025-11-25/sessions", "2025-03-26..2025-11-25/idle"])),
    ("HL-19", In(&["2025-03-26..2025-11-25/sessions", "2025-03-26..2025-11-25/deleted_call"])),
    ("HL-20", Elsewhere("`principals` of the suite `faults`: an application says who calls")),
    ("HL-21", In(&["2025-06-18..2025-11-25/version_header"])),
    ("HL-22", In(&["2025-03-26/version_header", "2025-06-18..2025-11-25/version_header"])),
    ("HL-23", In(&["2025-03-26/version_header", "2025-06-18..2025-11-25/version_header"])),
    ("HM-01", In(&["2026-07-28/requests", "2026-07-28/paths", "2026-07-28/both_eras"])),
    ("HM-02", In(&["2026-07-28/origin", "2026-07-28/cors"])),
    ("HM-03", In(&["2026-07-28/requests"])),
    ("HM-04", In(&["2026-07-28/requests", "2026-07-28/stream"])),
    ("HM-05", In(&["2026-07-28/stream", "2026-07-28/logging"])),
    ("HM-06", In(&["2026-07-28/stream", "2026-07-28/keep_alive"])),
    ("HM-07", In(&["2026-07-28/disconnect"])),
    (
        "HM-08",
        In(&[
            "2026-07-28/ladder",
            "2026-07-28/methods",
            "2026-07-28/not_served",
            "2026-07-28/unknown_header",
        ]),
    ),
    ("HM-09", In(&["2026-07-28/requests", "2026-07-28/stream"])),
    ("HM-10", In(&["2026-07-28/cancelled"])),
    ("HM-11", In(&["2026-07-28/keep_alive", "2026-07-28/listen_wrong"])),
    ("HM-12", In(&["2026-07-28/negotiation"])),
    ("HM-13", In(&["2026-07-28/errors"])),
    ("HDR-01", In(&["2026-07-28/method_header", "2026-07-28/name_header"])),
    ("HDR-02", In(&["2026-07-28/tasks"])),
    ("HDR-03", In(&["2026-07-28/method_header", "2026-07-28/param_header"])),
    ("HDR-04", In(&["2026-07-28/name_header", "2026-07-28/param_header"])),
    ("HDR-05", In(&["2026-07-28/param_header"])),
    ("HDR-06", In(&["2026-07-28/param_header"])),
    // A tool that breaks this rule does not compile (see `tests/ui/argument`).
    ("HDR-07", In(&["2026-07-28/param_schema"])),
    ("HDR-08", Elsewhere("what is secret is the author's to know")),
    ("HDR-09", In(&["2026-07-28/method_header", "2025-03-26..2025-11-25/mirrored_headers"])),
    ("HDR-10", In(&["2026-07-28/method_header", "2026-07-28/param_header"])),
    ("SUB-01", In(&["2026-07-28/listen"])),
    ("SUB-02", In(&["2026-07-28/listen"])),
    ("SUB-03", In(&["2026-07-28/listen"])),
    ("SUB-04", In(&["2026-07-28/listen_ends"])),
    ("SUB-05", In(&["2026-07-28/listen"])),
    ("SUB-06", In(&["2026-07-28/listen"])),
    ("SUB-07", In(&["2026-07-28/not_served"])),
    ("SUB-08", In(&["2026-07-28/task_listen"])),
    ("SUB-09", In(&["2025-03-26..2025-11-25/get"])),
    ("SUB-10", In(&["2026-07-28/listen", "2025-03-26..2025-11-25/get", "2024-11-05/sse"])),
    ("C-01", In(&["2026-07-28/methods", "2026-07-28/both_eras", "2025-11-25/negotiation"])),
    ("C-02", In(&["2026-07-28/ladder"])),
    ("C-03", In(&["2026-07-28/ladder", "2026-07-28/asks", "2026-07-28/asks_not_declared"])),
    ("C-04", In(&["2026-07-28/asks_not_declared"])),
    ("C-07", In(&["2026-07-28/disconnect", "2025-03-26..2025-11-25/disconnect"])),
    ("C-08", In(&["2026-07-28/cancelled"])),
    ("C-09", In(&["2026-07-28/asks_rounds"])),
    ("C-10", In(&["2026-07-28/asks_rounds"])),
    ("C-11", In(&["2026-07-28/asks_elicitation", "2026-07-28/asks_rounds"])),
    ("C-12", In(&["2026-07-28/asks_elicitation"])),
    ("C-14", In(&["2026-07-28/listen_ends"])),
    ("C-19", In(&["2025-03-26/batch", "2025-06-18..2025-11-25/batch"])),
    ("C-22", In(&["2026-07-28/name_header"])),
    ("C-26", In(&["2025-06-18..2025-11-25/asks", "2025-03-26..2025-11-25/asks_models"])),
    ("C-27", In(&["2025-11-25/pages", "2026-07-28/asks_models_and_roots"])),
];

/// Number of rules in each group.
const GROUPS: [(&str, u32); 5] = [("SSE", 6), ("HL", 23), ("HM", 13), ("HDR", 10), ("SUB", 10)];

/// Returns every transcript as `<folder>/<name>`, with its comments.
fn comments() -> Vec<(String, String)> {
    let texts = texts_in(&Path::new(env!("CARGO_MANIFEST_DIR")).join("http"));
    let comments = texts.into_iter().map(|(folder, name, text)| {
        let revision = revisions(&folder)[0];
        let transcript = Transcript::parse(&name, revision, &replaced(&text, revision));
        let comments = transcript.unwrap_or_else(|error| panic!("{error}")).comments;
        (format!("{folder}/{name}"), comments.join("\n"))
    });
    comments.collect()
}

/// Returns the ids of rules in a text, such as `HL-07`.
fn ids(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    let is_id = |word: &&str| {
        word.split_once('-').is_some_and(|(group, number)| {
            let group = GROUPS.iter().any(|known| known.0 == group) || group == "C";
            group && number.len() == 2 && number.bytes().all(|byte| byte.is_ascii_digit())
        })
    };
    words.filter(is_id).collect()
}

#[test]
fn the_transcripts_of_each_rule_name_it() {
    let comments = comments();
    let mut wrong = Vec::new();
    for (rule, held) in &RULES {
        match held {
            In(names) => {
                let holds = |name: &&&str| {
                    let found = comments.iter().find(|transcript| transcript.0 == **name);
                    found.is_some_and(|(_, comments)| ids(comments).contains(rule))
                };
                let empty: Vec<_> = names.iter().filter(|name| !holds(name)).collect();
                if names.is_empty() || !empty.is_empty() {
                    wrong.push(format!("{rule} is not named in {empty:?}"));
                }
            }
            Elsewhere(why) => assert!(why.len() > 10, "{rule}: {why}"),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_rule_is_in_the_table() {
    let listed: Vec<_> = RULES.iter().map(|(rule, _)| *rule).collect();
    let groups = GROUPS.iter();
    let rules =
        groups.flat_map(|(group, last)| (1..=*last).map(move |n| format!("{group}-{n:02}")));
    let missing: Vec<_> = rules.filter(|rule| !listed.contains(&rule.as_str())).collect();
    assert!(missing.is_empty(), "not in the table: {missing:?}");
    let comments = comments();
    let unlisted: BTreeSet<_> = comments
        .iter()
        .flat_map(|(_, comments)| ids(comments))
        .filter(|id| !listed.contains(id))
        .collect();
    assert!(unlisted.is_empty(), "in comments, but not in the table: {unlisted:?}");
}
