//! What a caller is told who is not let in (RFC 6750, section 3; RFC 9728, section 5.1).

use std::{borrow::Cow, fmt::Write as _};

use http::StatusCode;

/// Why a request is not let in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It shows no token.
    Missing,
    /// It shows no token, and what it is for needs one: why, and with which scopes.
    Unknown { why: String, scopes: String },
    /// It shows one in a way that is not allowed.
    Malformed(&'static str),
    /// Its token is none of ours.
    Invalid(Cow<'static, str>),
    /// Its token grants too little: why, and what the next one should grant.
    Insufficient { why: String, scopes: String },
    /// The author lets others do this, and no other token would change it.
    Forbidden(String),
    /// It cannot be told now.
    Unavailable(Cow<'static, str>),
}

impl Refusal {
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Self::Missing | Self::Unknown { .. } | Self::Invalid(_) => StatusCode::UNAUTHORIZED,
            Self::Malformed(_) => StatusCode::BAD_REQUEST,
            Self::Insufficient { .. } | Self::Forbidden(_) => StatusCode::FORBIDDEN,
            Self::Unavailable(_) => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// In words.
    pub(crate) fn why(&self) -> Cow<'_, str> {
        match self {
            Self::Missing => "this server wants an access token: `Authorization: Bearer …`".into(),
            Self::Malformed(why) => (*why).into(),
            Self::Invalid(why) | Self::Unavailable(why) => (&**why).into(),
            Self::Unknown { why, .. } | Self::Insufficient { why, .. } | Self::Forbidden(why) => {
                (&**why).into()
            }
        }
    }

    /// The value of `WWW-Authenticate`; `scopes` is what a token should grant to begin with. Nothing for what no other
    /// token would change.
    pub(crate) fn challenge(&self, metadata: Option<&str>, scopes: &str) -> Option<String> {
        let (error, scopes) = match self {
            // Whoever has shown nothing has made no mistake.
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
        // A challenge has at least one parameter (RFC 9110, section 11.6.1, takes none for a token68).
        if challenge == "Bearer" {
            challenge.push_str(" realm=\"mcp\"");
        }
        Some(challenge)
    }
}

/// A quoted-string (RFC 9110, section 5.6.4), of what can be seen in it.
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn challenges_say_what_to_do() {
        let metadata = Some("https://a.example/.well-known/oauth-protected-resource/mcp");
        assert_eq!(
            Refusal::Missing.challenge(metadata, "a b").unwrap(),
            "Bearer resource_metadata=\"https://a.example/.well-known/oauth-protected-resource/mcp\", scope=\"a b\""
        );
        assert_eq!(
            Refusal::Invalid("it has \"expired\"".into()).challenge(None, "").unwrap(),
            "Bearer error=\"invalid_token\", error_description=\"it has 'expired'\""
        );
        let more = Refusal::Insufficient { why: "it must grant `c`".into(), scopes: "a c".into() };
        assert_eq!(
            more.challenge(None, "a").unwrap(),
            "Bearer error=\"insufficient_scope\", error_description=\"it must grant `c`\", scope=\"a c\""
        );
        let unknown = Refusal::Unknown { why: "a token".into(), scopes: "c".into() };
        assert_eq!(unknown.challenge(None, "a").unwrap(), "Bearer scope=\"c\"");
        assert_eq!(Refusal::Forbidden("no".into()).challenge(metadata, "a"), None);
        assert_eq!(Refusal::Missing.challenge(None, "").unwrap(), "Bearer realm=\"mcp\"");
        assert_eq!(Refusal::Unavailable("later".into()).challenge(metadata, "a"), None);
    }

    /// A quoted-string read back.
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
        fn no_words_leave_their_quotes(why in ".{0,60}", scope in ".{0,60}") {
            for refusal in [Refusal::Invalid(why.clone().into()), Refusal::Insufficient { why, scopes: scope.clone() }] {
                let challenge = refusal.challenge(Some(&scope), &scope).unwrap();
                prop_assert!(http::HeaderValue::from_str(&challenge).is_ok(), "{}", challenge);
                prop_assert!(challenge.bytes().all(|it| matches!(it, b' '..=b'~')));
            }
        }
    }
}
