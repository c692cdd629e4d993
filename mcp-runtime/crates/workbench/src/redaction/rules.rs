//! Rules for tokens and keys whose form is known, from the file `rules.toml`.

use std::{
    ops::Range,
    sync::{LazyLock, OnceLock},
};

use base64::{
    Engine as _,
    alphabet::{STANDARD, URL_SAFE},
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use regex::{Regex, RegexSet, RegexSetBuilder, escape};
use toml_edit::{Document, Table};

const FILE: &str = include_str!("rules.toml");

static RULES: LazyLock<Rules> = LazyLock::new(Rules::read);

struct Rules {
    rules: Vec<Rule>,
    /// The keywords of each rule, in the same order. A text without them cannot match, so most texts are searched only once for all rules.
    keywords: RegexSet,
}

/// Rule of the file, which describes its members.
pub(super) struct Rule {
    pub(super) id: String,
    regex: String,
    compiled: OnceLock<Regex>,
    /// Pattern that the secret must contain after it was decoded from base64.
    decoded: Option<Regex>,
}

impl Rules {
    fn read() -> Self {
        let file = Document::parse(FILE).expect("the tests read the file");
        let tables = file["rules"].as_array_of_tables().expect("the file has rules");
        let keywords = RegexSetBuilder::new(tables.iter().map(|table| {
            let keywords: Vec<_> = texts(table, "keywords").map(escape).collect();
            keywords.join("|")
        }));
        let rules = tables.iter().map(|table| Rule {
            id: text(table, "id").unwrap_or_default().to_owned(),
            regex: text(table, "regex").unwrap_or_default().to_owned(),
            compiled: OnceLock::new(),
            decoded: text(table, "decoded").map(compile),
        });
        Self {
            rules: rules.collect(),
            keywords: { keywords }
                .case_insensitive(true)
                .build()
                .expect("the tests read all keywords"),
        }
    }
}

fn text<'a>(table: &'a Table, name: &str) -> Option<&'a str> {
    table.get(name)?.as_str()
}

fn texts<'a>(table: &'a Table, name: &str) -> impl Iterator<Item = &'a str> {
    let array = table.get(name).and_then(|item| item.as_array());
    array.into_iter().flatten().filter_map(|value| value.as_str())
}

fn compile(regex: &str) -> Regex {
    Regex::new(regex).expect("the tests compile all rules")
}

/// Returns the rules that may find something in the text.
pub(super) fn of(text: &str) -> impl Iterator<Item = &'static Rule> + use<> {
    let rules = &*RULES;
    rules.keywords.matches(text).into_iter().map(|at| &rules.rules[at])
}

impl Rule {
    /// Returns the place of the next secret at or after `from`: the first group of the rule, or all of the match.
    pub(super) fn find(&self, text: &str, mut from: usize) -> Option<Range<usize>> {
        let regex = self.compiled.get_or_init(|| compile(&self.regex));
        loop {
            let found = regex.captures_at(text, from)?;
            let secret = found.iter().skip(1).flatten().next().or_else(|| found.get(0))?;
            if self.decoded.as_ref().is_none_or(|regex| is_decoded(secret.as_str(), regex)) {
                return Some(secret.range());
            }
            from = secret.end();
        }
    }
}

/// Returns whether a text in base64 contains what `regex` finds.
fn is_decoded(text: &str, regex: &Regex) -> bool {
    let config = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    [STANDARD, URL_SAFE].iter().any(|alphabet| {
        let bytes = GeneralPurpose::new(alphabet, config).decode(text);
        let text = bytes.ok().and_then(|bytes| String::from_utf8(bytes).ok());
        text.is_some_and(|text| regex.is_match(&text))
    })
}

#[cfg(test)]
mod tests;
