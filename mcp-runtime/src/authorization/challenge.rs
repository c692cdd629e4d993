//! Refusals of requests, and the challenges that tell clients how to get access (RFC 6750, section 3; RFC 9728, section 5.1). A challenge
//! contains the scopes to request (RFC 6749, section 3.3).

use std::{borrow::Cow, fmt::Write as _};

use http::StatusCode;

/// Maximum size of the granted scopes that a challenge repeats, in bytes. The limit keeps the head of the response small.
const MOST: usize = 4 << 10;

/// Reason why a request is rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AuthRefusal {
    /// The request has no token.
    Missing,
    /// The request has no token, but uses an item that requires one. `scopes` are the scopes that the token should grant.
    Unknown { why: String, scopes: String },
    /// The token of the request is malformed, or is in a part of the request where it is not allowed.
    Malformed(&'static str),
    /// The token is not valid for this server.
    Invalid(Cow<'static, str>),
    /// The token does not grant enough scopes. `scopes` are the scopes that the next token should grant.
    Insufficient { why: String, scopes: String },
    /// A policy of the author rejects the caller. A token with more scopes would not change this.
    Forbidden(String),
    /// The token currently cannot be verified.
    Unavailable(Cow<'static, str>),
}

impl AuthRefusal {
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Self::Missing | Self::Unknown { .. } | Self::Invalid(_) => StatusCode::UNAUTHORIZED,
            Self::Malformed(_) => StatusCode::BAD_REQUEST,
            Self::Insufficient { .. } | Self::Forbidden(_) => StatusCode::FORBIDDEN,
            Self::Unavailable(_) => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// Returns a description of the reason.
    pub(crate) fn why(&self) -> Cow<'_, str> {
        match self {
            Self::Missing => {
                "this server requires an access token: `Authorization: Bearer …`".into()
            }
            Self::Malformed(why) => (*why).into(),
            Self::Invalid(why) | Self::Unavailable(why) => (&**why).into(),
            Self::Unknown { why, .. } | Self::Insufficient { why, .. } | Self::Forbidden(why) => {
                (&**why).into()
            }
        }
    }

    /// Returns the value of `WWW-Authenticate`, or `None` if a new token would not help. `scopes` are the scopes that a client's first
    /// token should grant.
    pub(crate) fn challenge(&self, metadata: Option<&str>, scopes: &str) -> Option<String> {
        let (error, scopes) = match self {
            // A request without a token is not an error, so its challenge has no error code (RFC 6750, section 3.1).
            Self::Missing => (None, scopes),
            Self::Unknown { scopes, .. } => (None, &**scopes),
            Self::Malformed(_) => (Some("invalid_request"), ""),
            Self::Invalid(_) => (Some("invalid_token"), scopes),
            Self::Insufficient { scopes, .. } => (Some("insufficient_scope"), &**scopes),
            Self::Forbidden(_) | Self::Unavailable(_) => return None,
        };
        let mut challenge = String::from("Bearer");
        let mut separator = " ";
        let mut say = |name: &str, value: &str| {
            challenge.push_str(separator);
            let _ = write!(challenge, "{name}=");
            quote(value, &mut challenge);
            separator = ", ";
        };
        if let Some(error) = error {
            say("error", error);
            say("error_description", &self.why().replace(['"', '\\'], "'"));
        }
        if let Some(metadata) = metadata {
            say("resource_metadata", metadata);
        }
        if !scopes.is_empty() {
            say("scope", scopes);
        }
        // RFC 6750, section 3, requires at least one parameter after the scheme `Bearer`.
        if challenge == "Bearer" {
            challenge.push_str(" realm=\"mcp\"");
        }
        Some(challenge)
    }
}

/// Writes a quoted-string (RFC 9110, section 5.6.4). A character outside of printable ASCII becomes `?`.
fn quote(text: &str, into: &mut String) {
    into.push('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => into.extend(['\\', letter]),
            ' '..='~' => into.push(letter),
            _ => into.push('?'),
        }
    }
    into.push('"');
}

/// Describes the problem with a scope that the author has named. Returns `None` if the scope is valid.
pub fn scope_problem(scope: &str) -> Option<String> {
    if scope == "offline_access" {
        let why = "the client and the issuer decide whether the client stays signed in";
        return Some(format!("leave out the scope `offline_access`: {why}"));
    }
    let why = "use printable ASCII without spaces, `\"` and `\\`";
    (!is_scope(scope)).then(|| format!("`{scope}` is not a scope: {why}"))
}

/// Whether a text is a scope (RFC 6749, section 3.3): `1*( %x21 / %x23-5B / %x5D-7E )`.
fn is_scope(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"\\".contains(&byte))
}

/// Returns the scopes that a client should request: the needed scopes, and those that the current token grants. Otherwise the next
/// token could grant less than the current one (rule AUTH-09 of `docs/rules.md`). Leaves out granted scopes beyond [`MOST`] bytes.
pub(super) fn combined_scopes<'a>(
    needed: impl IntoIterator<Item = &'a str>,
    granted: impl IntoIterator<Item = &'a str>,
) -> String {
    let mut all: Vec<&str> = Vec::new();
    for scope in needed {
        if !all.contains(&scope) {
            all.push(scope);
        }
    }
    let mut room = MOST;
    for scope in granted {
        if scope.len() <= room && scope_problem(scope).is_none() && !all.contains(&scope) {
            room -= scope.len();
            all.push(scope);
        }
    }
    all.join(" ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn challenges_say_what_to_do() {
        let metadata = Some("https://a.example/.well-known/oauth-protected-resource/mcp");
        assert_eq!(
            AuthRefusal::Missing.challenge(metadata, "a b").unwrap(),
            "Bearer resource_metadata=\"https://a.example/.well-known/oauth-protected-resource/mcp\", scope=\"a b\""
        );
        assert_eq!(
            AuthRefusal::Invalid("it has \"expired\"".into()).challenge(None, "").unwrap(),
            "Bearer error=\"invalid_token\", error_description=\"it has 'expired'\""
        );
        let more =
            AuthRefusal::Insufficient { why: "it must grant `c`".into(), scopes: "a c".into() };
        assert_eq!(
            more.challenge(None, "a").unwrap(),
            "Bearer error=\"insufficient_scope\", error_description=\"it must grant `c`\", scope=\"a c\""
        );
        let unknown = AuthRefusal::Unknown { why: "a token".into(), scopes: "c".into() };
        assert_eq!(unknown.challenge(None, "a").unwrap(), "Bearer scope=\"c\"");
        assert_eq!(AuthRefusal::Forbidden("no".into()).challenge(metadata, "a"), None);
        assert_eq!(AuthRefusal::Missing.challenge(None, "").unwrap(), "Bearer realm=\"mcp\"");
        assert_eq!(AuthRefusal::Unavailable("later".into()).challenge(metadata, "a"), None);
    }

    #[test]
    fn a_scope_is_one_word_of_ascii() {
        for good in ["a", "notes:read", "https://a.example/notes.read", "a'b[]!~"] {
            assert_eq!(scope_problem(good), None, "{good}");
        }
        for bad in ["", " ", "a b", "a\"", "\\", "\u{e4}", "a\n", "\u{7f}", "offline_access"] {
            assert!(scope_problem(bad).is_some(), "{bad}");
        }
    }

    #[test]
    fn a_client_is_told_what_it_needs_and_what_it_has() {
        let check = |needed: &[&str], granted: &[&str], expected: &str| {
            let said = combined_scopes(needed.iter().copied(), granted.iter().copied());
            assert_eq!(said, expected, "{needed:?} {granted:?}");
        };
        check(&["a", "b", "a"], &[], "a b");
        check(&["b"], &["a", "b", "c", "c"], "b a c");
        check(&["b"], &["offline_access", "\u{e4}", "a\"b", ""], "b");
        let long = "x".repeat(3 << 10);
        check(&[&long], &[&long, "y", &"z".repeat(4 << 10), "a"], &format!("{long} y a"));
    }

    /// Reads a quoted-string. Returns `None` if it is malformed.
    fn unquote(text: &str) -> Option<String> {
        let inner = text.strip_prefix('"')?.strip_suffix('"')?;
        let (mut letters, mut read) = (inner.chars(), String::new());
        while let Some(letter) = letters.next() {
            match letter {
                '"' => return None,
                '\\' => read.push(letters.next()?),
                letter => read.push(letter),
            }
        }
        Some(read)
    }

    proptest! {
        #[test]
        fn quoted_strings_are_read_back(text in "[ -~]{0,60}") {
            let mut quoted = String::new();
            quote(&text, &mut quoted);
            prop_assert_eq!(unquote(&quoted), Some(text));
        }

        #[test]
        fn a_challenge_with_arbitrary_texts_is_a_valid_header_value(why in ".{0,60}", scope in ".{0,60}") {
            for refusal in [AuthRefusal::Invalid(why.clone().into()), AuthRefusal::Insufficient { why, scopes: scope.clone() }] {
                let challenge = refusal.challenge(Some(&scope), &scope).unwrap();
                prop_assert!(http::HeaderValue::from_str(&challenge).is_ok(), "{}", challenge);
                prop_assert!(challenge.bytes().all(|byte| matches!(byte, b' '..=b'~')));
            }
        }
    }
}
