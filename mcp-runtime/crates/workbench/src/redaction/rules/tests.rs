//! Each rule removes its own samples.

use serde_json::json;

use super::*;
use crate::redaction::{REMOVED, Redaction};

/// Characters of a sample, in an order that looks random and is the same in each run.
fn fill(alphabet: &str, count: usize, state: &mut u64) -> String {
    let alphabet: Vec<char> = alphabet.chars().collect();
    let mut next = || {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        alphabet[usize::try_from(*state >> 33).expect("31 bits") % alphabet.len()]
    };
    (0..count).map(|_| next()).collect()
}

/// Writes characters in place of the parts of a sample in braces.
fn filled(sample: &str, state: &mut u64) -> String {
    const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
    let upper = LOWER.to_ascii_uppercase();
    let digits = "0123456789";
    let mut new = String::new();
    for part in sample.split('{') {
        let Some((place, rest)) = part.split_once('}') else {
            new += part;
            continue;
        };
        let alphabet = match &place[..1] {
            "a" => format!("{LOWER}{upper}{digits}"),
            "A" => format!("{upper}{digits}"),
            "l" => format!("{LOWER}{digits}"),
            "h" => format!("{digits}abcdef"),
            "d" => digits.to_owned(),
            other => panic!("unknown alphabet {other} in {sample}"),
        };
        new += &fill(&alphabet, place[1..].parse().expect("a number"), state);
        new += rest;
    }
    new
}

#[test]
fn each_rule_removes_its_samples() {
    let file = Document::parse(FILE).expect("TOML");
    let tables = file["rules"].as_array_of_tables().expect("rules");
    let redaction = Redaction::new([]);
    let mut state = 1;
    let mut ids = std::collections::HashSet::new();
    for (at, table) in tables.iter().enumerate() {
        let rule = &RULES.rules[at];
        let id = &rule.id;
        assert!(ids.insert(id), "two rules {id}");
        let samples: Vec<_> = texts(table, "samples").collect();
        assert!(!samples.is_empty(), "{id} has no sample");
        assert!(texts(table, "keywords").next().is_some(), "{id} has no keyword");
        for sample in samples {
            for _ in 0..4 {
                let text = filled(sample, &mut state);
                assert!(RULES.keywords.matches(&text).matched(at), "{id}: no keyword in {text}");
                let found = rule.find(&text, 0);
                let secret = found.map(|range| text[range].to_owned());
                let secret = secret.unwrap_or_else(|| panic!("{id} does not find {text}"));
                for around in [format!("got {text}."), format!("a \"{text}\",\n"), text] {
                    let mut message = json!({ "text": around });
                    redaction.apply(&mut message);
                    let left = message["text"].as_str().expect("a text");
                    assert!(!left.contains(&secret), "{id}: {left}");
                    assert!(left.contains(REMOVED), "{id}: {left}");
                }
            }
        }
    }
}
