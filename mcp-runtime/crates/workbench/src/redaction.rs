//! Removal of secrets from recorded messages.

use serde_json::Value;

/// Text in place of a secret. In the message of a server, it stands for every text.
pub const REMOVED: &str = "<removed>";

/// Shortest secret that is removed from the middle of a text. A shorter secret is removed only if it is the whole text.
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

/// Secrets that a recording must not contain.
///
/// These are the given texts, the values of members with names such as `password`, `api_key` and `accessToken`, tokens after `Bearer`, JSON web
/// tokens, and users and passwords in URLs.
#[derive(Debug)]
pub struct Redaction {
    secrets: Vec<String>,
}

impl Redaction {
    /// Removes also these texts, wherever they are.
    pub fn new(secrets: impl IntoIterator<Item = String>) -> Self {
        let mut secrets: Vec<_> = secrets.into_iter().filter(|text| !text.is_empty()).collect();
        // A secret may contain another one.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        Self { secrets }
    }

    /// Replaces all secrets in a message by [`REMOVED`].
    pub fn apply(&self, message: &mut Value) {
        match message {
            Value::String(text) => self.apply_to(text),
            Value::Array(values) => values.iter_mut().for_each(|value| self.apply(value)),
            Value::Object(members) => {
                for (name, value) in members {
                    match value {
                        Value::String(_) | Value::Number(_) if is_secret(name) => {
                            *value = REMOVED.into();
                        }
                        _ => self.apply(value),
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn apply_to(&self, text: &mut String) {
        for secret in &self.secrets {
            if text == secret || secret.len() >= SHORTEST && text.contains(secret) {
                *text = text.replace(secret, REMOVED);
            }
        }
        // A text may itself be JSON, such as the result of a tool.
        if text.starts_with(['{', '['])
            && let Ok(mut inner) = serde_json::from_str::<Value>(text)
        {
            let before = inner.clone();
            self.apply(&mut inner);
            if inner != before {
                *text = inner.to_string();
            }
            return;
        }
        let words = text.split_inclusive(|sign: char| !is_part_of_token(sign));
        let mut new = String::with_capacity(text.len());
        let mut is_after_bearer = false;
        for word in words {
            let token = word.trim_end_matches(|sign| !is_part_of_token(sign));
            if !token.is_empty() && (is_after_bearer || is_web_token(token)) {
                new.push_str(REMOVED);
                new.push_str(&word[token.len()..]);
            } else {
                new.push_str(word);
            }
            is_after_bearer = token.eq_ignore_ascii_case("bearer") && word.ends_with(' ');
        }
        remove_users(&mut new);
        *text = new;
    }
}

/// Returns whether a member of this name has a secret value.
fn is_secret(name: &str) -> bool {
    let letters = name.chars().filter(char::is_ascii_alphanumeric);
    let name = letters.collect::<String>().to_ascii_lowercase();
    // The protocol has `progressToken`, which is none.
    let is_token = name.ends_with("token") && name != "progresstoken";
    is_token || SECRET.iter().any(|word| name.contains(word))
}

fn is_part_of_token(sign: char) -> bool {
    sign.is_ascii_alphanumeric() || "-_.~+=".contains(sign)
}

/// Returns whether a word is a JSON web token.
fn is_web_token(word: &str) -> bool {
    word.starts_with("eyJ") && word.split('.').count() == 3 && word.len() > 30
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
        Redaction::new(["hunter22".to_owned(), "7".to_owned()]).apply(&mut message);
        assert_eq!(message, expected);
    }

    #[test]
    fn given_secrets_are_removed_from_all_texts() {
        check(json!({ "a": ["the key is hunter22!"] }), json!({ "a": ["the key is <removed>!"] }));
        check(json!(["7", "17"]), json!(["<removed>", "17"]));
    }

    #[test]
    fn values_of_secret_members_are_removed() {
        check(
            json!({ "apiKey": "a", "client_secret": 5, "access_token": "b", "progressToken": "c" }),
            json!({ "apiKey": "<removed>", "client_secret": "<removed>", "access_token": "<removed>", "progressToken": "c" }),
        );
        check(
            json!({ "properties": { "password": { "type": "string" } } }),
            json!({ "properties": { "password": { "type": "string" } } }),
        );
        check(
            json!({ "text": "{\"password\":\"a\",\"rows\":1}" }),
            json!({ "text": "{\"password\":\"<removed>\",\"rows\":1}" }),
        );
        check(json!({ "text": "{ \"rows\": 1 }" }), json!({ "text": "{ \"rows\": 1 }" }));
    }

    #[test]
    fn tokens_and_users_of_urls_are_removed() {
        check(json!("Bearer abc.d-e, and on"), json!("Bearer <removed>, and on"));
        check(
            json!("got eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJl."),
            json!("got eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJl."),
        );
        check(
            json!("got eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJl now"),
            json!("got <removed> now"),
        );
        check(
            json!("postgres://ada:p@ss@db:5432/x and https://a.example/@me"),
            json!("postgres://<removed>@db:5432/x and https://a.example/@me"),
        );
    }
}
