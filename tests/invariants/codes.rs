//! Codes of internal rules, such as the number of a row in this project's matrix of the specification. The codes mean nothing to users of
//! the crates, so they must not appear in the published documentation, in errors or in documents for users.

use std::collections::BTreeSet;

use crate::sources::Text;

/// Finds codes in texts for users: documents, documentation of public items, and texts of the program.
pub(crate) fn published(texts: &[Text]) -> Vec<String> {
    texts.iter().flat_map(in_text).collect()
}

fn in_text(text: &Text) -> Vec<String> {
    let is_read = readable(text);
    let lines = text.text.lines().enumerate().zip(is_read);
    let hits = lines.filter(|((_, line), is_read)| *is_read && has_code(line));
    hits.map(|((at, line), _)| format!("{}:{}: {}", text.path, at + 1, line.trim())).collect()
}

/// Returns for each line whether users read it.
fn readable(text: &Text) -> Vec<bool> {
    let lines: Vec<&str> = text.text.lines().collect();
    if !text.path.ends_with(".rs") {
        return vec![true; lines.len()];
    }
    let is_page = text.path.ends_with("src/lib.rs") || text.path.ends_with("testing/mod.rs");
    let mut in_public_trait = false;
    let mut readable = vec![false; lines.len()];
    for (at, line) in lines.iter().enumerate() {
        let code = line.trim_start();
        if line.starts_with("pub trait ") {
            in_public_trait = true;
        } else if line.starts_with('}') {
            in_public_trait = false;
        }
        if code.starts_with("//!") {
            readable[at] = is_page;
        } else if code.starts_with("///") {
            readable[at] = documents_public_item(&lines[at..], in_public_trait);
        } else if !code.starts_with("//") {
            // A quoted text may reach users.
            readable[at] = line.contains('"');
        }
    }
    readable
}

/// Whether the doc comment at the beginning of `lines` belongs to a page of the documentation. Variants of private enums count as public,
/// which is stricter than necessary.
fn documents_public_item(lines: &[&str], in_public_trait: bool) -> bool {
    let mut code = lines.iter().map(|line| line.trim_start());
    let item =
        code.find(|line| !line.is_empty() && !line.starts_with("//") && !line.starts_with("#["));
    item.is_some_and(|item| {
        let is_method =
            ["fn ", "async fn ", "type ", "const "].iter().any(|word| item.starts_with(word));
        item.starts_with("pub ")
            || item.starts_with(|first: char| first.is_ascii_uppercase())
            || in_public_trait && is_method
    })
}

/// Returns the references to rules that are missing in `rules`, the text of docs/rules.md.
pub(crate) fn unknown(texts: &[Text], rules: &str) -> Vec<String> {
    let known: BTreeSet<&str> = rules
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.split_once(" |"))
        .map(|row| row.0)
        .collect();
    let mut found = Vec::new();
    for text in texts {
        for (at, line) in text.text.lines().enumerate() {
            let unknown = codes(line).filter(|code| !known.contains(code));
            found.extend(unknown.map(|code| format!("{}:{}: {code}", text.path, at + 1)));
        }
    }
    found
}

fn has_code(line: &str) -> bool {
    codes(line).next().is_some()
}

/// Returns the rule codes in a line. A code has letters, a hyphen and two digits, such as `META-03` or `C-20`.
fn codes(line: &str) -> impl Iterator<Item = &str> {
    line.match_indices('-').filter_map(|(at, _)| {
        let letters = line[..at].chars().rev().take_while(char::is_ascii_alphanumeric);
        let word: String = letters.collect::<Vec<_>>().into_iter().rev().collect();
        let digits = line[at + 1..].chars().take_while(char::is_ascii_digit).count();
        let after = line[at + 1 + digits..].chars().next();
        let is_upper =
            word.chars().all(|letter| letter.is_ascii_uppercase() || letter.is_ascii_digit())
                && word.starts_with(|first: char| first.is_ascii_uppercase());
        let is_code = digits == 2
            && is_upper
            && word != "UTF"
            && !after.is_some_and(|next| next.is_ascii_alphanumeric() || next == '-');
        is_code.then(|| &line[at - word.len()..at + 1 + digits])
    })
}

#[test]
fn a_rule_code_is_distinguished_from_other_words() {
    for (line, expected) in [
        ("on it (META-03).", true),
        ("(TASK4-10)", true),
        ("see C-20", true),
        ("UTF-16 as Windows writes it", false),
        ("SEP-1699", false),
        ("2025-11-25", false),
        ("RFC 6749", false),
        ("gpt-4o and GPT-4", false),
    ] {
        assert_eq!(has_code(line), expected, "{line}");
    }
}
