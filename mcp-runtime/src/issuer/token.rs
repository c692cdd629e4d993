//! Parses tokens in the compact form of JWS (RFC 7515, section 7.1), and applies the checks of RFC 8725. Also parses and checks the claims
//! of tokens (RFC 7519, section 4.1; RFC 9068).

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::{Deserialize, de::IgnoredAny};

use super::jwks::Algorithm;
use crate::call::context::Authorization;

/// Maximum difference between the clocks of the issuer and of this machine.
const LEEWAY: Duration = Duration::from_secs(30);

pub(super) const NO_ACCESS_TOKEN: &str = "the token is not an access token";

/// Token whose signature has not been checked yet.
pub(super) struct Unverified<'a> {
    pub(super) algorithm: Algorithm,
    pub(super) key: Option<String>,
    /// Bytes that the signature covers.
    pub(super) message: &'a [u8],
    pub(super) signature: Vec<u8>,
    /// Whether the header says that the token is an access token (RFC 9068).
    pub(super) is_at_jwt: bool,
    payload: &'a str,
}

/// Header of a token. A header may also contain keys and URLs of keys, which are ignored.
#[derive(Deserialize)]
struct Header {
    alg: String,
    kid: Option<String>,
    typ: Option<String>,
    crit: Option<IgnoredAny>,
}

impl<'a> Unverified<'a> {
    /// Parses a token without checking its signature.
    ///
    /// # Errors
    /// Fails if this server would reject the token even with a valid signature.
    pub(super) fn parse(token: &'a str) -> Result<Self, &'static str> {
        const SHAPE: &str = "the token is not a signed JWT";
        let (message, signature) = token.rsplit_once('.').ok_or(SHAPE)?;
        let (header, payload) = message.split_once('.').ok_or(SHAPE)?;
        if payload.contains('.') {
            return Err(SHAPE);
        }
        let header = URL_SAFE_NO_PAD.decode(header).map_err(|_| SHAPE)?;
        let header: Header = serde_json::from_slice(&header).map_err(|_| SHAPE)?;
        let algorithm = Algorithm::named(&header.alg)
            .ok_or("the token is not signed with an algorithm that is allowed")?;
        if header.crit.is_some() {
            return Err("the token has a critical header that this server does not understand");
        }
        let is = |names: &[&str]| {
            let typ = header.typ.as_deref();
            typ.is_some_and(|typ| names.iter().any(|name| name.eq_ignore_ascii_case(typ)))
        };
        let is_at_jwt = is(&["at+jwt", "application/at+jwt"]);
        // A token of another type may contain the same claims, but serve another purpose (RFC 8725, section 3.11).
        if header.typ.is_some() && !is_at_jwt && !is(&["JWT"]) {
            return Err(NO_ACCESS_TOKEN);
        }
        let signature = URL_SAFE_NO_PAD.decode(signature).map_err(|_| SHAPE)?;
        let message = message.as_bytes();
        Ok(Self { algorithm, key: header.kid, message, signature, is_at_jwt, payload })
    }

    /// Returns the claims as JSON text. Call it only after the signature has been checked.
    ///
    /// # Errors
    /// Fails if the payload is not UTF-8 text in base64url.
    pub(super) fn payload(&self) -> Result<String, &'static str> {
        const SHAPE: &str = "the token's claims cannot be read";
        let bytes = URL_SAFE_NO_PAD.decode(self.payload).map_err(|_| SHAPE)?;
        String::from_utf8(bytes).map_err(|_| SHAPE)
    }
}

#[derive(Deserialize)]
pub(super) struct TokenClaims {
    iss: Option<String>,
    sub: Option<String>,
    aud: Option<OneOrMore>,
    /// Seconds since 1970, with a fraction if the issuer writes one.
    exp: Option<f64>,
    nbf: Option<f64>,
    scope: Option<OneOrMore>,
    /// Scopes in the claim that some issuers use instead of `scope`.
    scp: Option<OneOrMore>,
    /// Type of a token of Keycloak: `Bearer` for an access token. Old versions add the `nonce` of the login to it.
    typ: Option<String>,
    nonce: Option<IgnoredAny>,
    at_hash: Option<IgnoredAny>,
    c_hash: Option<IgnoredAny>,
    events: Option<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMore {
    One(String),
    More(Vec<String>),
}

impl OneOrMore {
    fn iter(&self) -> impl Iterator<Item = &str> {
        let all = match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::More(more) => more,
        };
        all.iter().map(String::as_str)
    }
}

impl TokenClaims {
    pub(super) fn parse(payload: &str) -> Result<Self, &'static str> {
        serde_json::from_str(payload).map_err(|_| "the token's claims cannot be read")
    }

    /// Whether the claims are those of an ID token (OpenID Connect Core, section 2) or of an event, such as a logout (RFC 8417). An issuer signs
    /// them with the same keys, and for the client, whose id may be an audience of this server.
    pub(super) fn are_of_another_token(&self) -> bool {
        let is_named = match self.typ.as_deref() {
            Some("Bearer") => return false,
            Some(typ) => ["ID", "Refresh", "Offline", "Logout"].contains(&typ),
            None => false,
        };
        is_named
            || [&self.nonce, &self.at_hash, &self.c_hash, &self.events]
                .iter()
                .any(|claim| claim.is_some())
    }

    /// Checks the claims, and returns the authorization of the caller.
    ///
    /// # Errors
    /// Fails if the token is rejected. The error states the reason.
    pub(super) fn judge(
        &self,
        issuer: &str,
        audiences: &[String],
        now: SystemTime,
    ) -> Result<Authorization, &'static str> {
        if self.iss.as_deref() != Some(issuer) {
            return Err("the token is from another issuer");
        }
        let audience = self.aud.as_ref().ok_or("the token names no audience")?;
        if !audience.iter().any(|name| audiences.iter().any(|own| is_same_audience(own, name))) {
            return Err("the token is for another audience");
        }
        let expiry = self.exp.ok_or("the token has no valid expiry")?;
        let expiry = time(expiry).ok_or("the token has no valid expiry")?;
        let ends = expiry.checked_add(LEEWAY).ok_or("the token has no valid expiry")?;
        if ends <= now {
            return Err("the token has expired");
        }
        if let Some(begin) = self.nbf {
            let begin = time(begin).ok_or("the token's `nbf` is not a valid time")?;
            if begin > now.checked_add(LEEWAY).unwrap_or(now) {
                return Err("the token is not valid yet");
            }
        }
        let subject = self.sub.as_deref().filter(|subject| !subject.is_empty());
        let subject = subject.ok_or("the token names no subject")?;
        let said = [&self.scope, &self.scp].into_iter().flatten();
        let scopes = said.flat_map(OneOrMore::iter).flat_map(|scopes| scopes.split(' '));
        let scopes = scopes.filter(|scope| !scope.is_empty());
        Ok(Authorization::new(subject).scopes(scopes).expires(ends))
    }
}

/// Converts the value of `exp` or `nbf`, in seconds since 1970, to a `SystemTime`. Returns `None` if the value is negative, or too large
/// for a `SystemTime`.
fn time(seconds: f64) -> Option<SystemTime> {
    UNIX_EPOCH.checked_add(Duration::try_from_secs_f64(seconds).ok()?)
}

/// Whether two audiences name the same recipient. URLs are compared as RFC 3986 does after normalization (sections 6.2.2.1 and 6.2.3): the
/// case of scheme and host, a default port, and an empty path make no difference. Other audiences must be equal.
fn is_same_audience(one: &str, other: &str) -> bool {
    one == other
        || WebUrl::parse(one).is_some_and(|one| WebUrl::parse(other).as_ref() == Some(&one))
}

/// Normalized URL of a site.
#[derive(PartialEq)]
struct WebUrl<'a> {
    scheme: String,
    host: String,
    /// Path, query and fragment.
    rest: &'a str,
}

impl<'a> WebUrl<'a> {
    fn parse(url: &'a str) -> Option<Self> {
        let (scheme, rest) = url.split_once("://")?;
        let scheme = scheme.to_ascii_lowercase();
        let default_port = match &*scheme {
            "https" => ":443",
            "http" => ":80",
            _ => return None,
        };
        let (host, rest) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        // The case of a user name has a meaning.
        if host.contains('@') {
            return None;
        }
        let host = host.strip_suffix(default_port).or(host.strip_suffix(':')).unwrap_or(host);
        let rest = if rest.is_empty() { "/" } else { rest };
        Some(Self { scheme, host: host.to_ascii_lowercase(), rest })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_compared_without_the_case_of_the_host_a_default_port_and_an_empty_path() {
        for (one, other) in [
            ("https://example.com", "https://example.com/"),
            ("HTTPS://Example.COM/mcp", "https://example.com/mcp"),
            ("https://example.com:443/mcp", "https://example.com/mcp"),
            ("http://[::1]:80", "http://[::1]/"),
            ("https://example.com:", "https://example.com"),
            ("api://Server", "api://Server"),
        ] {
            assert!(is_same_audience(one, other) && is_same_audience(other, one), "{one} {other}");
        }
        for (one, other) in [
            ("https://example.com/mcp", "https://example.com/mcp/"),
            ("https://example.com/mcp", "https://example.com/MCP"),
            ("https://example.com", "http://example.com"),
            ("https://example.com:80", "https://example.com"),
            ("https://example.com:8443", "https://example.com"),
            ("https://Ada@example.com", "https://ada@example.com"),
            ("https://example.com?", "https://example.com"),
            ("https://example.com.evil.test", "https://example.com"),
            ("api://Server", "api://server"),
            ("server", "Server"),
        ] {
            assert!(
                !is_same_audience(one, other) && !is_same_audience(other, one),
                "{one} {other}"
            );
        }
    }
}
