//! Secrets that the texts around them reveal: values after the names of secrets, and users in URLs.

use std::{ops::Range, sync::LazyLock};

use regex::{Captures, Regex};

use super::name::{is_likely, is_secret, is_secret_header, is_secret_parameter, may_be_likely};

/// Text in place of a secret. In the message of a server, it stands for every value, and within a text or a name for every part of it.
pub const REMOVED: &str = "<removed>";

/// A name, and the sign between it and its value.
static ASSIGNMENT: LazyLock<Regex> = LazyLock::new(|| {
    let name = r"(?P<name>[A-Za-z0-9_.-]*[A-Za-z][A-Za-z0-9_.-]*)";
    let close = r#"(?P<close>\]?\\*["'`]?\]?)"#;
    // Some languages write a type before the equals sign.
    let sign = r"(?P<sign>(?:[ \t]*:)?[ \t]+[A-Za-z]+[ \t]+=|[ \t]*(?:=>|[:?.+|]{0,3}=|[:,>]|%(?:25)*3[Dd])|[ \t]+)";
    Regex::new(&format!("{name}{close}{sign}")).expect("a valid pattern")
});

/// Words after a name in source code and in documentation that are no values.
const NO_VALUES: [&str; 19] = [
    "any",
    "basic",
    "bearer",
    "bool",
    "boolean",
    "false",
    "int",
    "integer",
    "none",
    "null",
    "number",
    "object",
    "optional",
    "required",
    "str",
    "string",
    "true",
    "undefined",
    "unknown",
];

/// Returns the place of the next value behind the name of a secret, as in `access_token=…`, `password: …` and `--password …`.
pub(super) fn next_value(text: &str, mut from: usize) -> Option<Range<usize>> {
    while let Some(found) = ASSIGNMENT.captures_at(text, from) {
        from = found.name("name").map_or(from, |name| name.end());
        if let Some(range) = value_of(text, &found) {
            return Some(range);
        }
    }
    None
}

fn value_of(text: &str, found: &Captures<'_>) -> Option<Range<usize>> {
    let at = found.get(0)?;
    let (before, rest) = (&text[..at.start()], &text[at.end()..]);
    let (mut name, is_quoted) = (&found["name"], found["close"].ends_with(['"', '\'']));
    let mut is_parameter = before.ends_with(['?', '&', ';']);
    // A URL may be a parameter of another one.
    if before.ends_with('%')
        && let Some(inner) = ["253F", "2526", "3F", "26"].iter().find_map(|escape| {
            let (start, inner) = name.split_at_checked(escape.len())?;
            start.eq_ignore_ascii_case(escape).then_some(inner)
        })
    {
        (name, is_parameter) = (inner, true);
    }
    let is_named =
        |is_number| is_secret(name, is_number) || (is_parameter && is_secret_parameter(name));
    // A value is searched only behind such a name, because the search may read the rest of the text.
    if !is_named(false) && !may_be_likely(name) {
        return None;
    }
    let sign = found["sign"].trim_start();
    let (start, value) = match sign {
        ">" => ("", of_element(before, rest)?),
        _ => value_at_start(rest),
    };
    let value = match sign.starts_with('%') {
        true => value.split("%26").next()?,
        false => value,
    };
    let is_number = value.bytes().all(|sign| sign.is_ascii_digit());
    if value.is_empty() || !(is_named(is_number) || is_likely(name, value)) {
        return None;
    }
    // A rule may have removed what follows the scheme, as in `Authorization: Basic …`.
    let after = &rest[start.len() + value.len()..];
    let after = after.trim_start_matches([' ', '\t', '"', '\'', '`', '\\']);
    let is_done = value.ends_with(REMOVED) || after.starts_with(REMOVED);
    if is_secret_header(name) && is_done {
        return None;
    }
    let has_quote = start.ends_with(['"', '\'', '`']);
    let is_option = name.starts_with('-');
    let is_value = match sign {
        ":" => !rest.starts_with([':', '/']) && (has_quote || !is_prose(value, rest)),
        "," => {
            let is_argument = before.ends_with("(\"") || before.ends_with("('");
            is_quoted && has_quote && (is_option || is_argument || is_secret_header(name))
        }
        "=>" => has_quote,
        "" => is_option && !value.starts_with('-'),
        sign => has_quote || !sign.contains(' '),
    };
    let first = at.end() + start.len();
    is_value.then_some(first..first + value.len())
}

/// Returns the text of an XML element without elements in it. `before` and `rest` are the texts around its name.
fn of_element<'a>(before: &str, rest: &'a str) -> Option<&'a str> {
    let rest = before.ends_with('<').then_some(rest)?;
    let (text, after) = rest.split_once('<')?;
    after.starts_with('/').then_some(text)
}

/// Returns whether the text after `password:` is the beginning of a sentence, or one of [`NO_VALUES`]. A word of letters may also be a password,
/// but then it is the last word of its line.
fn is_prose(value: &str, rest: &str) -> bool {
    let is_word = value.chars().all(|sign| sign.is_alphabetic() || "'’-".contains(sign));
    let after = rest.trim_start_matches([' ', '\t']).strip_prefix(value);
    let after = after.and_then(|after| after.strip_prefix([' ', '\t']));
    let has_next = after.is_some_and(|after| after.trim_start().starts_with(char::is_alphanumeric));
    (is_word && has_next) || NO_VALUES.contains(&&*value.trim_end_matches('.').to_lowercase())
}

/// Returns the spaces, brackets and the quote at the start of a text, and the value behind them. In JSON within JSON, backslashes stand before
/// a quote. Without a quote, the value ends at a space or at a separator.
fn value_at_start(text: &str) -> (&str, &str) {
    // `token==a` compares, `token=>a` is a pair in some languages, and the value may have been removed already.
    let opened = text.trim_start_matches(|sign: char| " ([{".contains(sign));
    if text.starts_with(['=', '>']) || opened.starts_with(REMOVED) {
        return ("", "");
    }
    let is_quote = |sign: char| "\"'`".contains(sign);
    let quote = opened.trim_start_matches('\\');
    if quote.starts_with(is_quote) {
        let slashes = opened.len() - quote.len();
        let (start, rest) = text.split_at(text.len() - quote.len() + 1);
        let mark = &start[start.len() - slashes - 1..];
        let end = quoted_end(rest, mark).or_else(|| rest.find(['\n', '\r']));
        return (start, &rest[..end.unwrap_or(rest.len())]);
    }
    let is_end = |sign: char| sign.is_whitespace() || "&;,>\\".contains(sign) || is_quote(sign);
    let end = opened.find(|sign| is_end(sign) || (sign == '<' && !opened.starts_with('<')));
    let (start, rest) = text.split_at(text.len() - opened.len());
    (start, &rest[..end.unwrap_or(rest.len())])
}

/// Returns the place of the quote that ends a text. `mark` is the quote, with the backslashes before it.
fn quoted_end(text: &str, mark: &str) -> Option<usize> {
    let mut ends = text.match_indices(mark).map(|(at, _)| at);
    ends.find(|at| {
        let before = &text[..*at];
        let slashes = before.len() - before.trim_end_matches('\\').len();
        // JSON doubles each backslash in front of a quote, and adds one. A quote that is escaped belongs to the text.
        (slashes / mark.len()).is_multiple_of(2)
    })
}

/// Maximum number of characters in which a user and a password are searched. A text of many URLs without a space would otherwise take minutes.
const LONGEST_USER: usize = 2048;

/// Returns the place of the user and the password of the next URL.
pub(super) fn next_user(text: &str, mut from: usize) -> Option<Range<usize>> {
    while let Some(at) = text[from..].find("://").map(|at| from + at + "://".len()) {
        let scheme = &text[..at - "://".len()];
        let is_web = ["http", "https", "ws", "wss"].iter().any(|web| scheme.ends_with(web));
        from = at;
        if let Some(length) = user_in(&text[at..], is_web).filter(|length| *length > 0) {
            return Some(at..at + length);
        }
    }
    None
}

/// Returns the length of the user and the password at the start of a URL without its scheme. A password may contain the characters that end
/// this part of a URL, although the standard of URLs demands an escape.
fn user_in(url: &str, is_web: bool) -> Option<usize> {
    let is_end = |sign: char| sign.is_whitespace() || "\"'`<>".contains(sign);
    let signs = url.char_indices().take(LONGEST_USER).take_while(|(_, sign)| !is_end(*sign));
    let url = &url[..signs.last().map_or(0, |(at, sign)| at + sign.len_utf8())];
    let authority = &url[..url.find(['/', '?', '#']).unwrap_or(url.len())];
    if let Some(length) = authority.rfind('@') {
        return Some(length);
    }
    // An address of IPv6 has colons, too.
    let (_, port) = authority.split_once(':').filter(|_| !authority.starts_with('['))?;
    // Only the paths of web pages often contain an `@`.
    let is_port = is_web && port.bytes().all(|sign| sign.is_ascii_digit());
    url.rfind('@').filter(|_| !is_port)
}
