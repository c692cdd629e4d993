//! Names of secrets, and names that are kept.

use serde_json::{Map, Value};

/// Texts in the names of members whose values are secret.
const PARTS: [&str; 20] = [
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "secret",
    "apikey",
    "privatekey",
    "accesskey",
    "accountkey",
    "authkey",
    "encryptionkey",
    "masterkey",
    "sharedkey",
    "signingkey",
    "authorization",
    "connectionstring",
    "cookie",
    "credential",
    "recoverycode",
    "seedphrase",
];

/// Names of the metadata of an authorization server, which contain no secret.
const OF_METADATA: [&str; 2] = ["authorizationservers", "authorizationendpoint"];

/// Short words, which are secret only as a whole word of a name.
const WORDS: [&str; 8] = ["pwd", "otp", "totp", "pin", "cvv", "cvc", "jwt", "sig"];

/// Words of longer names whose values are secret only if they look random. The values of many such names are paths, versions and ids.
const LIKELY: [&str; 6] = ["access", "api", "auth", "creds", "key", "token"];

/// Shortest value that looks random, in bytes.
const SHORTEST_RANDOM: usize = 16;

/// Parameters of URLs whose values are secret. In other places, the same names often have values that are none.
const PARAMETERS: [&str; 9] =
    ["code", "key", "pass", "signature", "auth", "assertion", "hmac", "session", "ticket"];

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

/// Returns whether a value of this name is secret. `is_number` says whether the value is a number.
pub(super) fn is_secret(name: &str, is_number: bool) -> bool {
    let letters = name.chars().filter(char::is_ascii_alphanumeric);
    let letters = letters.collect::<String>().to_ascii_lowercase();
    // The protocol has `progressToken`, which is none, and counts such as `maxTokens`.
    let is_token = letters.ends_with("token") && letters != "progresstoken";
    let are_tokens = letters.ends_with("tokens") && !is_number;
    if OF_METADATA.contains(&&*letters) {
        return false;
    }
    is_token
        || are_tokens
        || PARTS.iter().any(|part| letters.contains(part))
        || words(name).iter().any(|word| {
            // Reports of tests count what has passed.
            WORDS.contains(&&**word) || (word == "pass" && !is_number)
        })
}

/// Returns the words of a name such as `dbPwd`, `DB_PWD` or `db-pwd`, in lower case.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for sign in name.chars() {
        if !sign.is_ascii_alphanumeric() || (sign.is_ascii_uppercase() && was_lower) {
            words.push(String::new());
        }
        was_lower = sign.is_ascii_lowercase();
        if let Some(word) = words.last_mut().filter(|_| sign.is_ascii_alphanumeric()) {
            word.push(sign.to_ascii_lowercase());
        }
    }
    words
}

/// Returns whether the value of a name such as `STORAGE_KEY` is secret, because it looks random.
pub(super) fn is_likely(name: &str, value: &str) -> bool {
    may_be_likely(name) && looks_random(value)
}

pub(super) fn may_be_likely(name: &str) -> bool {
    let words = words(name);
    words.len() > 1
        && words.iter().any(|word| LIKELY.contains(&&**word))
        && words != ["progress", "token"]
}

/// Returns whether a text has the signs of base64 or of hexadecimal digits, and neither those of words nor those of an id in groups.
fn looks_random(value: &str) -> bool {
    let count = |is: fn(&u8) -> bool| value.bytes().filter(&is).count();
    let (digits, separators) = (count(u8::is_ascii_digit), count(|sign| b"-_/".contains(sign)));
    let has_both = count(u8::is_ascii_uppercase) > 1 && count(u8::is_ascii_lowercase) > 1;
    value.len() >= SHORTEST_RANDOM
        && value.bytes().all(|sign| sign.is_ascii_alphanumeric() || b"-_/+=".contains(&sign))
        && digits > 1
        && separators <= 2
        && (has_both || (separators == 0 && digits * 6 >= value.len()))
}

/// Returns whether a parameter of a URL has a secret value.
pub(super) fn is_secret_parameter(name: &str) -> bool {
    words(name).last().is_some_and(|word| PARAMETERS.contains(&&**word))
}

/// Returns whether the name is that of a header with a secret value.
pub(super) fn is_secret_header(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let is_known = name.ends_with("authorization") || name.ends_with("cookie");
    is_known || (name.starts_with("x-") && is_secret(&name, false))
}

pub(super) fn is_of_the_protocol(name: &str) -> bool {
    OF_THE_PROTOCOL.contains(&name) || name.starts_with("io.modelcontextprotocol/")
}

/// Returns whether the value of a member with the name of a secret is a schema, a question or an answer. `parent` is the name of the member
/// around it.
pub(super) fn is_declaration(parent: &str, members: &Map<String, Value>) -> bool {
    OF_DECLARATIONS.contains(&parent)
        && (members.is_empty() || OF_DECLARED.iter().any(|name| members.contains_key(*name)))
}
