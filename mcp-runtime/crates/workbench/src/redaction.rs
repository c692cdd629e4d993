//! Removal of secrets from recorded messages.

use std::mem;

use serde_json::{Map, Number, Value};

/// Text in place of a secret. In the message of a server, it stands for every value, and within a text or a name for every part of it.
pub const REMOVED: &str = "<removed>";

/// Shortest secret that is removed from the middle of a text, in bytes. A shorter secret is removed only if it is the whole text.
const SHORTEST: usize = 4;

/// Words in the names of members whose values are secret.
const SECRET: [&str; 9] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "apikey",
    "privatekey",
    "authorization",
    "cookie",
    "credential",
];

/// Members whose members have names that the author chooses, for schemas and for questions. Such a schema or question is no secret.
const OF_DECLARATIONS: [&str; 7] = [
    "properties",
    "patternProperties",
    "dependentSchemas",
    "definitions",
    "$defs",
    "inputRequests",
    "inputResponses",
];

/// Members by which a schema, a question or an answer is known.
const OF_DECLARED: [&str; 11] = [
    "type",
    "$ref",
    "anyOf",
    "oneOf",
    "allOf",
    "enum",
    "const",
    "title",
    "description",
    "method",
    "action",
];

/// Secrets that a recording must not contain.
///
/// These are the given texts, all texts and numbers within members with names such as `password`, `apiKeys` and `accessToken`, tokens after
/// `Bearer`, JSON web tokens, and users and passwords in URLs. A schema in a member `password` of `properties` is kept.
#[derive(Debug)]
pub struct Redaction {
    secrets: Vec<String>,
}

impl Redaction {
    /// Removes also the given texts, wherever they are in texts and in names of members, and the numbers that are written like them; a secret
    /// below four bytes only as a whole text or name.
    pub fn new(secrets: impl IntoIterator<Item = String>) -> Self {
        let mut secrets: Vec<_> = secrets.into_iter().filter(|text| !text.is_empty()).collect();
        // A secret may contain another one.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        Self { secrets }
    }

    /// Replaces all secrets in a message by [`REMOVED`].
    pub fn apply(&self, message: &mut Value) {
        self.apply_within("", message);
    }

    /// Replaces all secrets in the value of the member `parent`.
    fn apply_within(&self, parent: &str, value: &mut Value) {
        match value {
            Value::String(text) => self.apply_to(text),
            Value::Number(number) if self.has(number) => *value = REMOVED.into(),
            Value::Array(values) => values.iter_mut().for_each(|value| self.apply(value)),
            Value::Object(members) => {
                for (mut name, mut value) in mem::take(members) {
                    if is_secret(&name, &value) {
                        remove_secret(parent, &mut value);
                    }
                    self.apply_within(&name, &mut value);
                    self.apply_to(&mut name);
                    // Two names may have been different only in their secrets.
                    while members.contains_key(&name) {
                        name.push_str(REMOVED);
                    }
                    members.insert(name, value);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn has(&self, number: &Number) -> bool {
        let secrets = self.secrets.iter().filter(|secret| secret.len() >= SHORTEST);
        secrets.filter_map(|secret| secret.parse().ok()).any(|secret: Number| secret == *number)
    }

    fn apply_to(&self, text: &mut String) {
        if text == REMOVED {
            return;
        }
        if self.secrets.contains(text) {
            return REMOVED.clone_into(text);
        }
        let inner = inner_json(text);
        let is_json = inner.is_some();
        if let Some(before) = inner {
            let mut inner = before.clone();
            self.apply(&mut inner);
            if inner != before {
                *text = inner.to_string();
            }
        }
        for secret in self.secrets.iter().filter(|secret| secret.len() >= SHORTEST) {
            if text.contains(secret) {
                *text = text.replace(secret, REMOVED);
            }
        }
        if !is_json {
            *text = without_web_tokens(&without_bearers(text));
            remove_users(text);
        }
    }
}

/// Parses a text that is itself JSON, such as the result of a tool.
pub(crate) fn inner_json(text: &str) -> Option<Value> {
    let is_likely = text.trim_start().starts_with(['{', '[']);
    is_likely.then(|| serde_json::from_str(text).ok()).flatten()
}

/// Returns whether a member of this name has a secret value.
fn is_secret(name: &str, value: &Value) -> bool {
    let letters = name.chars().filter(char::is_ascii_alphanumeric);
    let name = letters.collect::<String>().to_ascii_lowercase();
    // The protocol has `progressToken`, which is none, and counts such as `maxTokens`.
    let is_token = name.ends_with("token") && name != "progresstoken";
    let are_tokens = name.ends_with("tokens") && !value.is_number();
    is_token || are_tokens || SECRET.iter().any(|word| name.contains(word))
}

/// Removes the value of a member with the name of a secret. `parent` is the name of the member around it.
fn remove_secret(parent: &str, value: &mut Value) {
    let is_declared = |members: &Map<String, Value>| {
        members.is_empty() || OF_DECLARED.iter().any(|name| members.contains_key(*name))
    };
    match value {
        Value::Object(members) if OF_DECLARATIONS.contains(&parent) && is_declared(members) => {
            // The question is no secret, and what the user answers is.
            if parent == "inputResponses" {
                members.get_mut("content").into_iter().for_each(remove_all);
            }
        }
        _ => remove_all(value),
    }
}

/// Removes all texts and numbers.
fn remove_all(value: &mut Value) {
    match value {
        Value::String(_) | Value::Number(_) => *value = REMOVED.into(),
        Value::Array(values) => values.iter_mut().for_each(remove_all),
        Value::Object(members) => members.values_mut().for_each(remove_all),
        Value::Null | Value::Bool(_) => {}
    }
}

/// Removes what follows the word `Bearer`, up to the next white space, quote or comma.
fn without_bearers(text: &str) -> String {
    const BEARER: &str = "bearer";
    let is_quote = |sign: char| sign.is_whitespace() || "\"'`\\".contains(sign);
    let lower = text.to_ascii_lowercase();
    let mut new = String::with_capacity(text.len());
    let mut from = 0;
    while let Some(at) = lower[from..].find(BEARER).map(|at| from + at) {
        let end = at + BEARER.len();
        let rest = text[end..].trim_start_matches(|sign| is_quote(sign) || ":=".contains(sign));
        let token = text.len() - rest.len();
        let length = rest.find(|sign| is_quote(sign) || sign == ',').unwrap_or(rest.len());
        new.push_str(&text[from..token]);
        from = token;
        let is_word = !text[..at].ends_with(char::is_alphanumeric) && token > end;
        // The word may stand there twice.
        if is_word && length > 0 && &lower[token..token + length] != BEARER {
            new.push_str(REMOVED);
            from += length;
        }
    }
    new + &text[from..]
}

/// Removes JSON web tokens, signed or encrypted. Each begins with a JSON object, whose first bytes are always the same in base64.
fn without_web_tokens(text: &str) -> String {
    let is_part = |sign: char| sign.is_ascii_alphanumeric() || "-_.".contains(sign);
    let mut new = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("eyJ") {
        new.push_str(&rest[..at]);
        let token = &rest[at..];
        let end = token.find(|sign| !is_part(sign)).unwrap_or(token.len());
        // A sentence may end here.
        let token = token[..end].trim_end_matches('.');
        new.push_str(if token.matches('.').count() >= 2 { REMOVED } else { token });
        rest = &rest[at + token.len()..];
    }
    new + rest
}

/// Removes the user and the password of each URL in a text.
fn remove_users(text: &mut String) {
    let mut from = 0;
    while let Some(at) = text[from..].find("://").map(|at| from + at + "://".len()) {
        let end = text[at..].find(|sign: char| "/?# \n\"'`<>".contains(sign));
        let end = end.map_or(text.len(), |end| at + end);
        from = at;
        if let Some(length) = text[at..end].rfind('@') {
            text.replace_range(at..at + length, REMOVED);
            from += REMOVED.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(mut message: Value, expected: Value) {
        let secrets = ["hunter22", "7", "48151623"].map(str::to_owned);
        Redaction::new(secrets).apply(&mut message);
        assert_eq!(message, expected);
    }

    #[test]
    fn given_secrets_are_removed_from_all_texts() {
        check(json!({ "a": ["the key is hunter22!"] }), json!({ "a": ["the key is <removed>!"] }));
        check(json!(["7", "17"]), json!(["<removed>", "17"]));
    }

    #[test]
    fn given_secrets_are_removed_from_names_and_numbers() {
        check(
            json!({ "hunter22": 1, "of hunter22": 2 }),
            json!({ "<removed>": 1, "of <removed>": 2 }),
        );
        check(
            json!({ "account": 48151623, "id": 7, "rows": 481516233 }),
            json!({ "account": "<removed>", "id": 7, "rows": 481516233 }),
        );
        check(
            json!("{\"account\": 48151623, \"password\": \"a\"}"),
            json!("{\"account\":\"<removed>\",\"password\":\"<removed>\"}"),
        );
    }

    #[test]
    fn members_stay_apart_if_their_names_are_removed() {
        check(
            json!({ "7": 1, "hunter22": 2, "<removed>": 3 }),
            json!({ "<removed>": 1, "<removed><removed>": 3, "<removed><removed><removed>": 2 }),
        );
    }

    #[test]
    fn values_of_secret_members_are_removed() {
        check(
            json!({ "apiKey": "a", "client_secret": 5, "access_token": "b", "progressToken": "c" }),
            json!({ "apiKey": "<removed>", "client_secret": "<removed>", "access_token": "<removed>", "progressToken": "c" }),
        );
        check(
            json!({ "text": "{\"password\":\"a\",\"rows\":1}" }),
            json!({ "text": "{\"password\":\"<removed>\",\"rows\":1}" }),
        );
        check(json!("\n{\"password\": \"a\"}"), json!("{\"password\":\"<removed>\"}"));
        check(json!({ "text": "{ \"rows\": 1 }" }), json!({ "text": "{ \"rows\": 1 }" }));
    }

    #[test]
    fn all_values_within_secret_members_are_removed() {
        check(
            json!({ "apiKeys": ["k1", 2], "cookies": { "sid": "x", "secure": true } }),
            json!({ "apiKeys": ["<removed>", "<removed>"], "cookies": { "sid": "<removed>", "secure": true } }),
        );
        check(
            json!({ "credentials": { "user": "u", "keys": [{ "key": "k" }] }, "tokens": ["t"] }),
            json!({ "credentials": { "user": "<removed>", "keys": [{ "key": "<removed>" }] }, "tokens": ["<removed>"] }),
        );
        check(
            json!({ "properties": { "credentials": { "key": "k" }, "passwords": ["p"] } }),
            json!({ "properties": { "credentials": { "key": "<removed>" }, "passwords": ["<removed>"] } }),
        );
    }

    #[test]
    fn schemas_counts_and_questions_with_the_name_of_a_secret_are_kept() {
        for message in [
            json!({ "properties": { "password": { "type": "string" }, "cookies": { "$ref": "#/$defs/Cookies" } } }),
            json!({ "$defs": { "Cookies": { "type": "array", "description": "All of them" } } }),
            json!({ "maxTokens": 100 }),
            json!({ "inputRequests": { "password": { "method": "elicitation/create", "params": { "message": "Which?" } } } }),
            json!({ "inputResponses": { "password": { "action": "decline" } } }),
        ] {
            check(message.clone(), message);
        }
        check(
            json!({ "inputResponses": { "password": { "action": "accept", "content": { "value": "open" } } } }),
            json!({ "inputResponses": { "password": { "action": "accept", "content": { "value": "<removed>" } } } }),
        );
    }

    #[test]
    fn tokens_after_bearer_are_removed_as_a_whole() {
        for (text, expected) in [
            ("Bearer abc.d-e, and on", "Bearer <removed>, and on"),
            ("Authorization: Bearer abc/DEFsecret==", "Authorization: Bearer <removed>"),
            ("bearer  a+b~c/d", "bearer  <removed>"),
            ("Bearer\t\"a/b\" now", "Bearer\t\"<removed>\" now"),
            ("Bearer 'a:b'", "Bearer '<removed>'"),
            (
                "-H 'Authorization: Bearer \\\"a/b\\\"'",
                "-H 'Authorization: Bearer \\\"<removed>\\\"'",
            ),
            ("BEARER: a/b c", "BEARER: <removed> c"),
            ("Bearer Bearer a/b", "Bearer Bearer <removed>"),
            ("Bearer a, Bearer b", "Bearer <removed>, Bearer <removed>"),
            ("forbearer a, bearers b, Bearer", "forbearer a, bearers b, Bearer"),
        ] {
            check(json!(text), json!(expected));
        }
    }

    #[test]
    fn web_tokens_are_removed_wherever_they_begin() {
        let signed = "eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJl";
        let encrypted = "eyJhbGciOiJkaXIifQ..aXY.Y2lwaGVy.dGFn";
        for token in [signed, encrypted] {
            for (before, after) in [
                ("got ", " now"),
                ("", ""),
                ("got ", "."),
                ("access_token=", "&a=b"),
                ("session=", "; Path=/"),
                ("https://x/cb?id_token=", ""),
                ("a%3D", "..."),
            ] {
                let text = format!("{before}{token}{after}");
                check(json!(text), json!(format!("{before}<removed>{after}")));
            }
        }
        for text in ["eyJson.parse is a name", "eyJa.b.."] {
            check(json!(text), json!(text));
        }
    }

    #[test]
    fn users_of_urls_are_removed() {
        check(
            json!("postgres://ada:p@ss@db:5432/x and https://a.example/@me"),
            json!("postgres://<removed>@db:5432/x and https://a.example/@me"),
        );
    }
}
