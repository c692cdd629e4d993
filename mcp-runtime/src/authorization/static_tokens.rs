use std::{fmt, net::IpAddr};

use ring::digest::{SHA256, digest};
use subtle::ConstantTimeEq as _;

use super::{
    bearer::is_b64token,
    verifier::{Denied, TokenVerifier},
};
use crate::call::context::Authorization;

/// Verifier of access tokens that are written into the program, for development.
///
/// A server with this verifier starts only at loopback addresses, and cannot be mounted in an application. Use [`Jwt`](crate::auth::Jwt)
/// for the tokens of an issuer. Implement [`TokenVerifier`] for tokens that have to be looked up.
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
}

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
        self
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
        match address {
            Some(address) if address.is_loopback() => Ok(()),
            Some(address) => Err(format!(
                "`StaticTokens` are for development, and {address} can be reached from other machines: listen on 127.0.0.1, or verify tokens of an issuer with `Jwt`"
            )),
            None => Err("`StaticTokens` are for development, and the server does not know the address of the application that it is mounted in: \
                 authenticate callers in its middleware, or verify tokens of an issuer with `Jwt`"
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
        assert!(tokens.may_serve_at(None).unwrap_err().contains("middleware"));
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
