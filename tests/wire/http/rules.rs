//! Which transcripts hold which rule of the specification.

use std::{collections::BTreeSet, path::Path};

use support::http::transcript::Transcript;

use crate::{replaced, revisions, texts_in};

/// Where a rule is held.
enum Held {
    /// By these transcripts, as `<folder>/<name>`, each of which names the rule in a comment.
    In(&'static [&'static str]),
    /// By no transcript, and why that is so.
    Elsewhere(&'static str),
}

use Held::{Elsewhere, In};

const RULES: [(&str, Held); 0] = [];

/// How many rules each group has.
const GROUPS: [(&str, u32); 5] = [("SSE", 6), ("HL", 23), ("HM", 13), ("HDR", 10), ("SUB", 10)];

/// Every transcript: its folder and name, and what its comments say.
fn comments() -> Vec<(String, String)> {
    let texts = texts_in(&Path::new(env!("CARGO_MANIFEST_DIR")).join("wire/http"));
    let comments = texts.into_iter().map(|(folder, name, text)| {
        let revision = revisions(&folder)[0];
        let transcript = Transcript::parse(&name, revision, &replaced(&text, revision));
        let comments = transcript.unwrap_or_else(|error| panic!("{error}")).comments;
        (format!("{folder}/{name}"), comments.join("\n"))
    });
    comments.collect()
}

/// The ids of rules in a text, such as `HL-07`.
fn ids(text: &str) -> BTreeSet<&str> {
    let words = text.split(|it: char| !it.is_ascii_alphanumeric() && it != '-');
    let is_id = |word: &&str| {
        word.split_once('-').is_some_and(|(group, number)| {
            let group = GROUPS.iter().any(|it| it.0 == group) || group == "C";
            group && number.len() == 2 && number.bytes().all(|it| it.is_ascii_digit())
        })
    };
    words.filter(is_id).collect()
}

#[test]
fn every_rule_is_held_where_the_table_says() {
    let comments = comments();
    let mut wrong = Vec::new();
    for (rule, held) in &RULES {
        match held {
            In(names) => {
                let there: BTreeSet<_> = comments
                    .iter()
                    .filter(|(_, comments)| ids(comments).contains(rule))
                    .map(|(name, _)| name.as_str())
                    .collect();
                let named: BTreeSet<_> = names.iter().copied().collect();
                if named.is_empty() || there != named {
                    wrong.push(format!(
                        "{rule}: the table has {named:?}, the transcripts {there:?}"
                    ));
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
