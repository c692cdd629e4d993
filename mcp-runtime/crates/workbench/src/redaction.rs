//! Removal of secrets from recorded messages.

mod context;
mod given;
mod name;
mod rules;
mod text_part;

use std::{borrow::Cow, fmt, mem, ops::Range};

use regex::Regex;
use serde_json::{Map, Number, Value};

pub use context::REMOVED;
use name::{is_declaration, is_likely, is_of_the_protocol, is_secret, is_secret_header};
pub(crate) use text_part::{TextPart, parts};

/// Shortest secret that is removed from the middle of a text, in bytes. A shorter secret is removed only if it is the whole text.
const SHORTEST: usize = 4;

/// Members of a JSON-RPC message that are kept as they are, because a replay needs them.
const OF_THE_ENVELOPE: [&str; 3] = ["jsonrpc", "id", "method"];

/// Members with the name of a secret or of a header, beside a member with its value.
const OF_NAMES: [&str; 6] = ["name", "key", "header", "field", "variable", "option"];

/// Members with the value for a member of [`OF_NAMES`].
const OF_VALUES: [&str; 3] = ["value", "values", "val"];

/// Members with lists of names, in which the second name is no value of the first.
const OF_LISTED_NAMES: [&str; 4] = ["required", "enum", "examples", "columns"];

/// Secret that was removed from a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removal {
    /// Rule or property by which the secret was found, such as `github-token`, `member` or `config`.
    pub kind: String,
    /// Names of the members around the secret, such as `params.arguments.password`.
    pub path: String,
    /// Length of the secret in bytes.
    pub bytes: usize,
}

/// Secrets that a recording must not contain.
///
/// The given texts are secret, also in percent-encoding, base64, hexadecimal digits and with escapes, and so are:
/// - all texts and numbers within members with names such as `password`, `apiKeys` and `accessToken`, also in JSON within a text
/// - values beside such a name, as in `["--password", …]` and `{"name": "Authorization", "value": …}`
/// - values after such a name in a text, as in `access_token=…`, `password: …` and `--password …`
/// - users and passwords in URLs
/// - tokens and keys of the forms that the file `rules.toml` lists
///
/// A schema in a member `password` of `properties` is kept, and so are the method and the id of a message.
pub struct Redaction {
    secrets: Vec<String>,
    /// Patterns of the secrets that are long enough. The longest secret is the first, because it may contain another one.
    patterns: Vec<Regex>,
}

impl fmt::Debug for Redaction {
    /// The secrets are left out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redaction").finish_non_exhaustive()
    }
}

impl Redaction {
    /// Removes also the given texts, wherever they are in texts and in names of members, and the numbers that are written like them; a secret
    /// below four bytes only as a whole text or name.
    pub fn new(secrets: impl IntoIterator<Item = String>) -> Self {
        let mut secrets: Vec<_> = secrets.into_iter().filter(|text| !text.is_empty()).collect();
        secrets.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        secrets.dedup();
        let long = secrets.iter().filter(|secret| secret.len() >= SHORTEST);
        let patterns = long.map(|secret| given::pattern(secret)).collect();
        Self { secrets, patterns }
    }

    /// Replaces all secrets in a message, or in the messages of a batch, by [`REMOVED`]. Returns where they were.
    pub fn apply(&self, message: &mut Value) -> Vec<Removal> {
        let mut pass = Pass { redaction: self, path: String::new(), removals: Vec::new() };
        match message {
            Value::Array(batch) => batch.iter_mut().for_each(|message| pass.message(message)),
            message => pass.message(message),
        }
        pass.removals
    }

    fn has(&self, number: &Number) -> bool {
        let secrets = self.secrets.iter().filter(|secret| secret.len() >= SHORTEST);
        secrets.filter_map(|secret| secret.parse().ok()).any(|secret: Number| secret == *number)
    }
}

/// Removal of the secrets of a single message.
struct Pass<'a> {
    redaction: &'a Redaction,
    /// Names of the members around the current value, which contain no secret.
    path: String,
    removals: Vec<Removal>,
}

impl Pass<'_> {
    fn message(&mut self, message: &mut Value) {
        let mut envelope = Vec::new();
        if let Value::Object(members) = message {
            let kept = OF_THE_ENVELOPE.iter().filter_map(|name| members.remove_entry(*name));
            envelope.extend(kept);
        }
        self.value("", message);
        if let Value::Object(members) = message {
            members.extend(envelope);
        }
    }

    fn found(&mut self, kind: &str, bytes: usize) {
        self.removals.push(Removal { kind: kind.to_owned(), path: self.path.clone(), bytes });
    }

    /// Calls `pass` for a value behind the current path.
    fn within(&mut self, name: &str, pass: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        if length > 0 && !name.starts_with('[') {
            self.path.push('.');
        }
        self.path += name;
        pass(self);
        self.path.truncate(length);
    }

    /// Replaces all secrets in the value of the member `parent`.
    fn value(&mut self, parent: &str, value: &mut Value) {
        match value {
            Value::String(text) => self.text(text),
            Value::Number(number) if self.redaction.has(number) => {
                self.found("config", number.to_string().len());
                *value = REMOVED.into();
            }
            Value::Array(values) => self.within("[]", |pass| {
                if !OF_LISTED_NAMES.contains(&parent) {
                    pass.pairs(values);
                }
                values.iter_mut().for_each(|value| pass.value("", value));
            }),
            Value::Object(members) => {
                self.value_of_secret_name(members);
                for (name, value) in mem::take(members) {
                    self.member(parent, name, value, members);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Adds a member without its secrets to `members`.
    fn member(
        &mut self,
        parent: &str,
        name: String,
        mut value: Value,
        members: &mut Map<String, Value>,
    ) {
        let mut shown = name.clone();
        if !is_of_the_protocol(&name) {
            self.text(&mut shown);
        }
        // Two names may have been different only in their secrets.
        while members.contains_key(&shown) {
            shown.push_str(REMOVED);
        }
        self.within(&shown, |pass| {
            let text = value.as_str();
            if is_secret(&name, value.is_number())
                || text.is_some_and(|text| is_likely(&name, text))
            {
                pass.secret(parent, &mut value);
            }
            pass.value(&name, &mut value);
        });
        members.insert(shown, value);
    }

    /// Removes the values that stand in an array behind the names of secrets: after options of a command line, in a pair, and in a list of
    /// headers.
    fn pairs(&mut self, values: &mut [Value]) {
        let (is_pair, is_even) = (values.len() == 2, values.len().is_multiple_of(2));
        for at in 1..values.len() {
            let (before, after) = values.split_at_mut(at);
            let [Value::String(name), value] = [&before[at - 1], &after[0]] else { continue };
            let is_option = name.starts_with('-')
                && !name.contains('=')
                && !value.as_str().is_some_and(|text| text.starts_with('-'));
            let is_header = is_even && at % 2 == 1 && is_secret_header(name);
            if (is_option || is_pair || is_header) && is_secret(name, value.is_number()) {
                self.all(&mut after[0]);
            }
        }
    }

    /// Removes the value beside the name of a secret, as in a header or in an argument to complete, and the data of a secret of Kubernetes.
    fn value_of_secret_name(&mut self, members: &mut Map<String, Value>) {
        if members.get("kind").is_some_and(|kind| kind == "Secret") {
            for name in ["data", "stringData"] {
                if let Some(value) = members.get_mut(name) {
                    self.within(name, |pass| pass.all(value));
                }
            }
        }
        for of_value in OF_VALUES {
            let Some(value) = members.get(of_value) else { continue };
            let mut names = OF_NAMES.iter().filter_map(|name| members.get(*name)?.as_str());
            if names.any(|name| is_secret(name, value.is_number()))
                && let Some(value) = members.get_mut(of_value)
            {
                self.within(of_value, |pass| pass.all(value));
            }
        }
    }

    /// Removes the value of a member with the name of a secret. `parent` is the name of the member around it.
    fn secret(&mut self, parent: &str, value: &mut Value) {
        match value {
            Value::Object(members) if is_declaration(parent, members) => {
                // The question is no secret, and what the user answers is.
                if parent == "inputResponses"
                    && let Some(content) = members.get_mut("content")
                {
                    self.within("content", |pass| pass.all(content));
                }
            }
            _ => self.all(value),
        }
    }

    /// Removes all texts and numbers.
    fn all(&mut self, value: &mut Value) {
        match value {
            Value::String(text) if text == REMOVED => {}
            Value::String(_) | Value::Number(_) => {
                let bytes = value.as_str().map_or_else(|| value.to_string().len(), str::len);
                self.found("member", bytes);
                *value = REMOVED.into();
            }
            Value::Array(values) => {
                self.within("[]", |pass| values.iter_mut().for_each(|value| pass.all(value)));
            }
            Value::Object(members) => members.values_mut().for_each(|value| self.all(value)),
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn text(&mut self, text: &mut String) {
        if text == REMOVED {
            return;
        }
        if self.redaction.secrets.contains(text) {
            self.found("config", text.len());
            return REMOVED.clone_into(text);
        }
        let mut new = String::with_capacity(text.len());
        for part in parts(text) {
            match part {
                TextPart::Json(text, before) => {
                    let mut value = before.clone();
                    self.value("", &mut value);
                    new +=
                        &if value == before { text.into() } else { Cow::from(value.to_string()) };
                }
                TextPart::Plain(text) => new += &self.plain(text),
            }
        }
        *text = self.without_given(new);
    }

    fn plain(&mut self, text: &str) -> String {
        // The given secrets are the first, because a rule may find only a part of one.
        let mut text = self.without_given(text.to_owned());
        for rule in rules::of(&text) {
            text = self.without(&rule.id, text, |text, from| rule.find(text, from));
        }
        let text = self.without("user in a URL", text, context::next_user);
        self.without("value after a name", text, context::next_value)
    }

    fn without_given(&mut self, text: String) -> String {
        let patterns = self.redaction.patterns.iter();
        patterns.fold(text, |text, pattern| {
            self.without("config", text, |text, from| Some(pattern.find_at(text, from)?.range()))
        })
    }

    /// Removes all ranges that `next` finds at or after a place in the text.
    fn without(
        &mut self,
        kind: &str,
        text: String,
        next: impl Fn(&str, usize) -> Option<Range<usize>>,
    ) -> String {
        let mut new = String::new();
        let (mut from, mut kept) = (0, 0);
        while let Some(range) = next(&text, from) {
            from = range.end;
            if &text[range.clone()] != REMOVED {
                self.found(kind, range.len());
                new += &text[kept..range.start];
                new += REMOVED;
                kept = from;
            }
        }
        if kept == 0 { text } else { new + &text[kept..] }
    }
}

#[cfg(test)]
mod form_tests;
#[cfg(test)]
mod tests;
