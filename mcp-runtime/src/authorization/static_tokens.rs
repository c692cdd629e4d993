use std::{ffi::OsString, fmt, net::IpAddr};

use ring::digest::{SHA256, digest};
use subtle::ConstantTimeEq as _;

use super::{
    bearer::is_b64token,
    verifier::{Denied, TokenVerifier},
};
use crate::call::context::Authorization;

/// Verifier of a few access tokens, from the environment, from settings or, for development, from the source.
///
/// A server with a token in its source starts only at loopback addresses, and cannot be mounted in an application. Use
/// [`Jwt`](crate::auth::Jwt) for the tokens of an issuer. Implement [`TokenVerifier`] for tokens that have to be looked up.
///
/// ```
/// use mcp_runtime::auth::StaticTokens;
///
/// let tokens = StaticTokens::new().token_from_env("NOTES_TOKEN", "team");
/// let server = mcp_runtime::server!().auth(tokens);
/// ```
///
/// In development:
///
/// ```
/// use mcp_runtime::auth::{Authorization, StaticTokens};
///
/// let tokens = StaticTokens::new()
///     .token("ada-secret", "ada")
///     .token("grace-secret", Authorization::new("grace").scopes(["notes:write"]));
/// let server = mcp_runtime::server!().auth(tokens);
/// ```
#[derive(Default)]
pub struct StaticTokens {
    known: Vec<([u8; 32], Authorization)>,
    problem: Option<String>,
    /// Whether a token is written into the source.
    is_in_source: bool,
    /// Reason why a token from outside of the source cannot be used.
    missing: Option<String>,
}

/// Minimum length of a token from outside of the source, in bytes. A shorter token could be guessed.
const SHORTEST: usize = 16;

impl StaticTokens {
    /// Creates a verifier without tokens, which rejects every token.
    pub fn new() -> Self {
        Self::default()
    }

    /// Maps `token` to a caller: an [`Authorization`], or only the name of the principal.
    ///
    /// A token consists of ASCII letters, digits and `-._~+/`. It may end with `=`. Any other token is rejected when the server is built.
    #[must_use]
    pub fn token(mut self, token: &str, authorization: impl Into<Authorization>) -> Self {
        if !is_b64token(token.as_bytes()) {
            let at = self.known.len() + 1;
            self.problem.get_or_insert(format!(
                "token number {at} cannot be sent: use only letters, digits and `-._~+/`"
            ));
        }
        self.known.push((digested(token), authorization.into()));
        self.is_in_source = true;
        self
    }

    /// Maps the token in an environment variable to a caller, as [`token`](Self::token) does for a token in the source.
    ///
    /// The server may then listen on every address. It does not start if the variable is missing, or if the token has fewer than 16 characters.
    /// `openssl rand -hex 32` makes a good token. Commands such as `list`, and stdio, do not need the variable.
    #[must_use]
    pub fn token_from_env(self, variable: &str, authorization: impl Into<Authorization>) -> Self {
        self.token_from(variable, std::env::var_os(variable), authorization.into())
    }

    /// Maps a token that the program has read when it started to a caller, such as a secret of a struct with
    /// [`#[config]`](macro@crate::prelude::config).
    ///
    /// The server may then listen on every address. It does not start over HTTP if the token has fewer than 16 characters, or others than
    /// letters, digits, `-._~+/`, and `=` at its end. `openssl rand -hex 32` makes a good token. Never pass a text of the source.
    ///
    /// ```
    /// use mcp_runtime::{auth::StaticTokens, prelude::*};
    ///
    /// #[config]
    /// struct Config {
    ///     /// Access token of the team
    ///     #[config(secret)]
    ///     token: String,
    /// }
    ///
    /// let server = mcp_runtime::server!()
    ///     .auth_with(|config: &Config| StaticTokens::new().secret_token(&config.token, "team"));
    /// ```
    #[must_use]
    pub fn secret_token(mut self, token: &str, authorization: impl Into<Authorization>) -> Self {
        let authorization = authorization.into();
        match token_problem(token) {
            None => self.known.push((digested(token), authorization)),
            Some(problem) => {
                let why = format!("the token of `{}` {problem}: {FIX}", authorization.principal());
                self.missing.get_or_insert(why);
            }
        }
        self
    }

    /// Creates a verifier with which no server starts over HTTP.
    pub(crate) fn unusable() -> Self {
        let missing = Some("the settings of the verifier are missing".to_owned());
        Self { missing, ..Self::default() }
    }

    fn token_from(
        mut self,
        variable: &str,
        value: Option<OsString>,
        authorization: Authorization,
    ) -> Self {
        let value = value.unwrap_or_default();
        let problem = match value.to_str() {
            Some("") => "is not set",
            Some(token) => match token_problem(token) {
                Some(problem) => problem,
                None => {
                    self.known.push((digested(token), authorization));
                    return self;
                }
            },
            None => UNUSUAL,
        };
        self.missing.get_or_insert(format!("the variable `{variable}` {problem}: {FIX}"));
        self
    }
}

const FIX: &str = "set it to a token for clients, such as the output of `openssl rand -hex 32`";

const UNUSUAL: &str = "has characters other than letters, digits, `-._~+/`, and `=` at its end";

/// Returns the reason why a token that is not in the source cannot be used.
fn token_problem(token: &str) -> Option<&'static str> {
    match token {
        _ if token.len() < SHORTEST => Some("has fewer than 16 characters"),
        _ if !is_b64token(token.as_bytes()) => Some(UNUSUAL),
        _ => None,
    }
}

impl From<&str> for Authorization {
    fn from(principal: &str) -> Self {
        Self::new(principal)
    }
}

impl From<String> for Authorization {
    fn from(principal: String) -> Self {
        Self::new(principal)
    }
}

impl fmt::Debug for StaticTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.known.iter().map(|known| &known.1)).finish()
    }
}

/// Returns the digest of a token. All digests have the same length, so the time of a comparison does not depend on the length of a token.
fn digested(token: &str) -> [u8; 32] {
    let digest = digest(&SHA256, token.as_bytes());
    digest.as_ref().try_into().unwrap_or_default()
}

impl TokenVerifier for StaticTokens {
    async fn verify(&self, token: &str) -> Result<Authorization, Denied> {
        let shown = digested(token);
        // Each known token is compared in constant time, so that the response time reveals nothing about the known tokens.
        let mut found = None;
        for (known, authorization) in &self.known {
            if bool::from(known.ct_eq(&shown)) {
                found = Some(authorization);
            }
        }
        found.cloned().ok_or(Denied::invalid("the token is unknown"))
    }

    fn problem(&self) -> Option<String> {
        self.problem.clone()
    }

    fn may_serve_at(&self, address: Option<IpAddr>) -> Result<(), String> {
        if let Some(missing) = &self.missing {
            return Err(missing.clone());
        }
        match address {
            _ if !self.is_in_source => Ok(()),
            Some(address) if address.is_loopback() => Ok(()),
            Some(address) => Err(format!(
                "a token in the source is for development, and {address} can be reached from other machines: listen on 127.0.0.1, read the token with `.token_from_env(…)` or from settings with `.auth_with(…)`, or verify tokens of an issuer with `Jwt`"
            )),
            None => Err("a token in the source is for development, and the server does not know the address of the application that it is mounted in: \
                 read the token with `.token_from_env(…)` or from settings with `.auth_with(…)`, or verify tokens of an issuer with `Jwt`"
                .to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_with_static_tokens_may_serve_only_at_loopback_addresses() {
        let tokens = StaticTokens::new().token("a", "ada");
        for (address, expected) in [
            ("127.0.0.1", true),
            ("127.1.2.3", true),
            ("::1", true),
            ("0.0.0.0", false),
            ("::", false),
            ("192.168.1.2", false),
        ] {
            let found = tokens.may_serve_at(Some(address.parse().unwrap()));
            assert_eq!(found.is_ok(), expected, "{address}");
        }
        assert!(tokens.may_serve_at(None).unwrap_err().contains("`.token_from_env(…)`"));
    }

    #[tokio::test]
    async fn a_token_from_the_environment_is_good_at_every_address() {
        let make = |value: Option<&str>| {
            StaticTokens::new().token_from("KEY", value.map(OsString::from), "team".into())
        };
        let open = Some("0.0.0.0".parse().unwrap());
        let tokens = make(Some("0123456789abcdef"));
        assert_eq!((tokens.may_serve_at(open), tokens.may_serve_at(None)), (Ok(()), Ok(())));
        let caller = tokens.verify("0123456789abcdef").await.unwrap();
        assert_eq!(caller.principal(), "team");
        assert!(tokens.verify("0123456789abcdeF").await.is_err());
        assert!(tokens.token("a", "ada").may_serve_at(open).is_err());
        for (value, problem) in [
            (None, "`KEY` is not set"),
            (Some(""), "`KEY` is not set"),
            (Some("0123456789abcde"), "`KEY` has fewer"),
            (Some("0123456789 abcdef"), "`KEY` has characters"),
        ] {
            let tokens = make(value);
            let refused = tokens.may_serve_at(Some("127.0.0.1".parse().unwrap())).unwrap_err();
            assert!(refused.contains(problem) && tokens.problem().is_none(), "{refused}");
            assert!(tokens.verify(value.unwrap_or_default()).await.is_err());
        }
    }

    #[test]
    fn a_token_that_no_client_can_send_is_a_problem_that_hides_the_token() {
        assert_eq!(StaticTokens::new().token("a.b", "ada").problem(), None);
        let problem =
            StaticTokens::new().token("a", "ada").token("s3 cret", "bob").problem().unwrap();
        assert!(problem.contains("number 2") && !problem.contains("cret"), "{problem}");
        let shown = format!("{:?}", StaticTokens::new().token("s3cret", "ada"));
        assert!(shown.contains("ada") && !shown.contains("s3cret"), "{shown}");
    }
}
