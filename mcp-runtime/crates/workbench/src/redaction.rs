//! Removal of secrets from recorded messages.

use std::{borrow::Cow, mem};

use serde_json::{Deserializer, Map, Number, Value};

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

/// Members of a JSON-RPC message that are kept as they are, because a replay needs them.
const OF_THE_ENVELOPE: [&str; 3] = ["jsonrpc", "id", "method"];

/// Members of the protocol whose names are kept, even if a given secret is a part of them. The names of the protocol's own `_meta` members are
/// kept, too.
const OF_THE_PROTOCOL: [&str; 21] = [
    "params",
    "result",
    "error",
    "name",
    "arguments",
    "argument",
    "uri",
    "ref",
    "value",
    "content",
    "structuredContent",
    "protocolVersion",
    "clientInfo",
    "capabilities",
    "roots",
    "sampling",
    "elicitation",
    "extensions",
    "inputResponses",
    "requestState",
    "progressToken",
];

/// Secrets that a recording must not contain.
///
/// The given texts are secret, and so are:
/// - all texts and numbers within members with names such as `password`, `apiKeys` and `accessToken`, also in JSON objects within a text
/// - the member `value` beside a `name` or `key` such as `Authorization`
/// - tokens after `Bearer`, JSON web tokens, values in texts such as `access_token=…`, and users and passwords in URLs
///
/// A schema in a member `password` of `properties` is kept, and so are the method and the id of a message. A secret that stands in a text in
/// another form, such as base64, is not found.
#[derive(Debug)]
pub struct Redaction {
    secrets: Vec<String>,
    /// Texts that are removed from the middle of a text: the secrets that are long enough, and their forms in JSON. The longest is the first.
    forms: Vec<String>,
}

impl Redaction {
    /// Removes also the given texts, wherever they are in texts and in names of members, and the numbers that are written like them; a secret
    /// below four bytes only as a whole text or name.
    pub fn new(secrets: impl IntoIterator<Item = String>) -> Self {
        let secrets: Vec<_> = secrets.into_iter().filter(|text| !text.is_empty()).collect();
        let long = secrets.iter().filter(|secret| secret.len() >= SHORTEST);
        let mut forms: Vec<_> = long.flat_map(|secret| forms_of(secret)).collect();
        // A secret may contain another one.
        forms.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        forms.dedup();
        Self { secrets, forms }
    }

    /// Replaces all secrets in a message, or in the messages of a batch, by [`REMOVED`].
    pub fn apply(&self, message: &mut Value) {
        match message {
            Value::Array(batch) => {
                batch.iter_mut().for_each(|message| self.apply_to_message(message));
            }
            message => self.apply_to_message(message),
        }
    }

    fn apply_to_message(&self, message: &mut Value) {
        let mut envelope = Vec::new();
        if let Value::Object(members) = message {
            let kept = OF_THE_ENVELOPE.iter().filter_map(|name| members.remove_entry(*name));
            envelope.extend(kept);
        }
        self.apply_within("", message);
        if let Value::Object(members) = message {
            members.extend(envelope);
        }
    }

    /// Replaces all secrets in the value of the member `parent`.
    fn apply_within(&self, parent: &str, value: &mut Value) {
        match value {
            Value::String(text) => self.apply_to(text),
            Value::Number(number) if self.has(number) => *value = REMOVED.into(),
            Value::Array(values) => {
                values.iter_mut().for_each(|value| self.apply_within("", value));
            }
            Value::Object(members) => {
                remove_value_of_secret_name(members);
                for (mut name, mut value) in mem::take(members) {
                    if is_secret(&name, &value) {
                        remove_secret(parent, &mut value);
                    }
                    self.apply_within(&name, &mut value);
                    if !is_of_the_protocol(&name) {
                        self.apply_to(&mut name);
                    }
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
        let mut new = String::with_capacity(text.len());
        for part in parts(text) {
            match part {
                TextPart::Json(text, before) => {
                    let mut value = before.clone();
                    self.apply_within("", &mut value);
                    new +=
                        &if value == before { text.into() } else { Cow::from(value.to_string()) };
                }
                // The given secrets are the first, because a rule may find only a part of one.
                TextPart::Plain(text) => {
                    let text = without_web_tokens(&without_bearers(&self.without_forms(text)));
                    new += &without_parameters(&without_users(text));
                }
            }
        }
        *text = self.without_forms(&new);
    }

    fn without_forms(&self, text: &str) -> String {
        let forms = self.forms.iter();
        forms.fold(text.to_owned(), |text, form| match text.contains(form) {
            true => text.replace(form, REMOVED),
            false => text,
        })
    }
}

/// Returns the secret, and its forms in a JSON string. Some encoders write only ASCII characters, and some escape slashes.
fn forms_of(secret: &str) -> Vec<String> {
    let quoted = Value::from(secret).to_string();
    let escaped = &quoted[1..quoted.len() - 1];
    let ascii = |digits: fn(u16) -> String| -> String {
        let mut units = [0; 2];
        let sign = |sign: char| match sign.is_ascii() {
            true => sign.to_string(),
            false => sign.encode_utf16(&mut units).iter().map(|unit| digits(*unit)).collect(),
        };
        escaped.chars().map(sign).collect()
    };
    let lower = ascii(|unit| format!("\\u{unit:04x}"));
    let upper = ascii(|unit| format!("\\u{unit:04X}"));
    let forms = [secret.to_owned(), escaped.to_owned(), lower, upper];
    let slashed: Vec<_> = forms[1..].iter().map(|form| form.replace('/', "\\/")).collect();
    forms.into_iter().chain(slashed).collect()
}

/// Part of a text.
pub(crate) enum TextPart<'a> {
    /// JSON within the text, and its value.
    Json(&'a str, Value),
    /// Any other text.
    Plain(&'a str),
}

/// Splits a text into the JSON objects in it and the texts between them. A text that is itself JSON is one part.
pub(crate) fn parts(text: &str) -> Vec<TextPart<'_>> {
    if let Some(value) = inner_json(text) {
        return vec![TextPart::Json(text, value)];
    }
    let mut parts = Vec::new();
    let (mut plain, mut from) = (0, 0);
    while let Some(at) = text[from..].find('{').map(|at| from + at) {
        let mut values = Deserializer::from_str(&text[at..]).into_iter::<Map<String, Value>>();
        from = at + 1;
        // Without members there is nothing to remove.
        if let Some(Ok(object)) = values.next()
            && !object.is_empty()
        {
            let end = at + values.byte_offset();
            if plain < at {
                parts.push(TextPart::Plain(&text[plain..at]));
            }
            parts.push(TextPart::Json(&text[at..end], object.into()));
            (plain, from) = (end, end);
        }
    }
    if plain < text.len() {
        parts.push(TextPart::Plain(&text[plain..]));
    }
    parts
}

/// Parses a text that is itself JSON, such as the result of a tool.
fn inner_json(text: &str) -> Option<Value> {
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

fn is_of_the_protocol(name: &str) -> bool {
    OF_THE_PROTOCOL.contains(&name) || name.starts_with("io.modelcontextprotocol/")
}

/// Removes the member `value` beside the name of a secret, as in a header or in an argument to complete.
fn remove_value_of_secret_name(members: &mut Map<String, Value>) {
    let Some(value) = members.get("value") else { return };
    let mut names = ["name", "key"].iter().filter_map(|name| members.get(*name)?.as_str());
    if names.any(|name| is_secret(name, value)) {
        members.get_mut("value").into_iter().for_each(remove_all);
    }
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
fn without_users(mut text: String) -> String {
    let mut from = 0;
    while let Some(at) = text[from..].find("://").map(|at| from + at + "://".len()) {
        let scheme = text[..at].trim_end_matches("://");
        let is_web = ["http", "https", "ws", "wss"].iter().any(|web| scheme.ends_with(web));
        from = at;
        if let Some(length) = user_in(&text[at..], is_web) {
            text.replace_range(at..at + length, REMOVED);
            from += REMOVED.len();
        }
    }
    text
}

/// Returns the length of the user and the password at the start of a URL without its scheme. A password may contain the characters that end
/// this part of a URL, although the standard of URLs demands an escape.
fn user_in(url: &str, is_web: bool) -> Option<usize> {
    let end = url.find(|sign: char| sign.is_whitespace() || "\"'`<>".contains(sign));
    let url = &url[..end.unwrap_or(url.len())];
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

/// Removes the values after the names of secrets, as in `access_token=…`.
fn without_parameters(text: &str) -> String {
    let mut new = String::with_capacity(text.len());
    let mut from = 0;
    while let Some(at) = text[from..].find('=').map(|at| from + at + 1) {
        new.push_str(&text[from..at]);
        from = at;
        let is_part = |sign: char| sign.is_ascii_alphanumeric() || "-_.".contains(sign);
        // Files of settings often have spaces around the sign.
        let before = text[..at - 1].trim_end_matches(' ');
        let name = &before[before.trim_end_matches(is_part).len()..];
        let (start, value) = value_at_start(&text[at..]);
        let number = value.parse::<u64>().map_or(Value::Null, Value::from);
        if !value.is_empty() && is_secret(name, &number) {
            new.push_str(start);
            new.push_str(REMOVED);
            from += start.len() + value.len();
        }
    }
    new + &text[from..]
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
    fn values_of_secret_members_are_removed_from_json_within_a_text() {
        for (text, expected) in [
            (r#"Login ok: {"password":"hunter2"}"#, r#"Login ok: {"password":"<removed>"}"#),
            ("{\"token\":\"a\"}\n{\"rows\":1}", "{\"token\":\"<removed>\"}\n{\"rows\":1}"),
            (
                "```json\n{ \"users\": [{ \"password\": \"a\" }] }\n```",
                "```json\n{\"users\":[{\"password\":\"<removed>\"}]}\n```",
            ),
            (r#"fn a() { [{"password":"a"}, {"#, r#"fn a() { [{"password":"<removed>"}, {"#),
            ("Bearer abc {\"Bearer\": true}", "Bearer <removed> {\"Bearer\": true}"),
        ] {
            check(json!(text), json!(expected));
        }
    }

    #[test]
    fn given_secrets_are_removed_in_their_escaped_forms() {
        let redaction = Redaction::new(["p\"ss4567", "café123", "a/b\\c"].map(str::to_owned));
        for (text, expected) in [
            (r#"password = "p\"ss4567""#, r#"password = "<removed>""#),
            (
                r"got caf\u00e9123 and caf\u00E9123 and café123",
                "got <removed> and <removed> and <removed>",
            ),
            (r"a\/b\\c, a/b\\c, a/b\c", "<removed>, <removed>, <removed>"),
        ] {
            let mut message = json!(text);
            redaction.apply(&mut message);
            assert_eq!(message, json!(expected));
        }
    }

    #[test]
    fn values_beside_the_name_of_a_secret_are_removed() {
        check(
            json!({ "argument": { "name": "password", "value": "a" }, "other": { "name": "city", "value": "b" } }),
            json!({ "argument": { "name": "password", "value": "<removed>" }, "other": { "name": "city", "value": "b" } }),
        );
        check(
            json!({ "headers": [{ "key": "Authorization", "value": ["Basic a"] }] }),
            json!({ "headers": [{ "key": "Authorization", "value": ["<removed>"] }] }),
        );
    }

    /// A replay needs the methods, the ids and the names of the protocol.
    #[test]
    fn the_envelope_of_a_message_is_kept() {
        let redaction = Redaction::new(["root", "para", "4815"].map(str::to_owned));
        let message = |removed: &str| {
            json!({
                "jsonrpc": "2.0", "id": 4815, "method": "roots/list",
                "params": { "capabilities": { "roots": {} }, "user": removed },
            })
        };
        for (mut was, expected) in [
            (message("root"), message("<removed>")),
            (json!([message("the root")]), json!([message("the <removed>")])),
        ] {
            redaction.apply(&mut was);
            assert_eq!(was, expected);
        }
    }

    #[test]
    fn values_after_the_name_of_a_secret_are_removed() {
        for (text, expected) in [
            (
                "https://a.example/cb?access_token=a-b.c&state=d",
                "https://a.example/cb?access_token=<removed>&state=d",
            ),
            ("API_KEY=abc, rows=5", "API_KEY=<removed>, rows=5"),
            ("password='a b'!", "password='<removed>'!"),
            ("API_KEY=\"sk=1\"\nrows=5", "API_KEY=\"<removed>\"\nrows=5"),
            (r#"say \"token=\\\"a\\\"\""#, r#"say \"token=\\\"<removed>\\\"\""#),
            ("password='a", "password='<removed>"),
            ("password=abc=def secret=ab(cd", "password=<removed> secret=<removed>"),
            ("password=", "password="),
            (r#"password="a\"b" c"#, r#"password="<removed>" c"#),
            (r#"password="a\\" b=c"#, r#"password="<removed>" b=c"#),
            (r#"password=\"a\\\"b\" c"#, r#"password=\"<removed>\" c"#),
            ("PASSWORD = hunter\nrows = 5", "PASSWORD = <removed>\nrows = 5"),
            ("password = \"a b\" c", "password = \"<removed>\" c"),
            (
                "token=<abc password=(x secret=[y]",
                "token=<removed> password=(<removed> secret=[<removed>",
            ),
            (
                "token=<removed> token => a, token == a, token != a",
                "token=<removed> token => a, token == a, token != a",
            ),
            ("max_tokens=100 token==a", "max_tokens=100 token==a"),
        ] {
            check(json!(text), json!(expected));
        }
    }

    #[test]
    fn users_of_urls_are_removed() {
        check(
            json!("postgres://ada:p@ss@db:5432/x and https://a.example/@me"),
            json!("postgres://<removed>@db:5432/x and https://a.example/@me"),
        );
        for (text, expected) in [
            ("postgres://ada:p/ss@db:5432/x", "postgres://<removed>@db:5432/x"),
            ("amqp://ada:p#s?s@mq, and on", "amqp://<removed>@mq, and on"),
            ("redis://:a/b@r a@b", "redis://<removed>@r a@b"),
            ("postgres://ada:12/ss@db", "postgres://<removed>@db"),
        ] {
            check(json!(text), json!(expected));
        }
        for text in [
            "http://localhost:3000/@me",
            "http://[::1]/@me",
            "https://a.example:/?mail=a@b",
            "https://a.example?mail=a@b",
            "postgres://db:5432/x",
        ] {
            check(json!(text), json!(text));
        }
    }
}
