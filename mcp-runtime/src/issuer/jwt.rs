use std::{fmt, time::SystemTime};

use super::{
    Algorithm,
    claims::Claims,
    fetch::{Fetch, Web},
    keys::Keys,
    seen::Seen,
    token::Unverified,
};
use crate::{
    auth::{Denied, TokenVerifier},
    call::context::Authorization,
};

/// Verifies access tokens that an issuer has signed (JWT, RFC 9068): [`Builder::auth`](crate::Builder::auth).
///
/// The server finds the issuer's keys through its metadata (RFC 8414, or OpenID Connect) and caches them. It fetches them again when they
/// are ten minutes old, or when a token names a key that is not among them. It does so at most once in ten seconds, however many tokens
/// name unknown keys.
///
/// A token is accepted if all of this holds:
///
/// * The token is signed with one of those keys, by an [`Algorithm`] that is allowed.
/// * Its `iss` is this issuer.
/// * Its `aud` is an audience of this server, or an array that contains one.
/// * Its `exp` has not passed, and its `nbf` has. Clocks may differ by 30 seconds.
/// * It has a `sub`, which becomes the caller's [`Principal`](crate::Principal).
///
/// The scopes of the caller are those in `scope`, or in `scp`.
///
/// A token for several audiences is accepted, as RFC 9068 allows. Each of the other services can then use the token here. To avoid that,
/// have the issuer give every service tokens of its own.
///
/// ```
/// use mcp_runtime::Jwt;
///
/// let server = mcp_runtime::server!().auth(Jwt::new("https://login.example.com", "https://api.example.com/mcp"));
/// # let _ = server;
/// ```
///
/// The server sends its requests over `https` and follows no redirects. In private networks it asks only the hosts that you name: the
/// issuer, and a [`jwks_uri`](Self::jwks_uri). An issuer on this machine (`http://localhost:8080`) may be asked without TLS.
///
/// The server uses the proxy of the environment as curl does: `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY`, also in lower case. The URL of the
/// proxy may have user and password. The server itself looks up other hosts, which only the issuer's documents name, and gives their
/// address to the proxy. The proxy could otherwise find a private address. On a machine that cannot look up such hosts, set the `jwks_uri`.
pub struct Jwt {
    verifier: Verifier<Web>,
    problem: Option<String>,
}

impl Jwt {
    /// Creates a verifier for tokens of this issuer that are issued for this audience. The audience is the URL of the server, as clients
    /// use it, or the name that the issuer has for the server. Write the issuer's URL exactly as its tokens have it in `iss`.
    pub fn new(issuer: impl Into<String>, audience: impl Into<String>) -> Self {
        let issuer = issuer.into();
        let web = Web::from_issuer(&issuer);
        let problem = web.problem().map(str::to_owned);
        Self { verifier: Verifier::new(web, issuer, audience.into(), None), problem }
    }

    /// Accepts tokens for this audience too.
    #[must_use]
    pub fn audience(mut self, audience: impl Into<String>) -> Self {
        self.verifier.audiences.push(audience.into());
        self
    }

    /// Sets the URL of the issuer's keys, for an issuer that has no metadata.
    #[must_use]
    pub fn jwks_uri(self, url: impl Into<String>) -> Self {
        let Verifier { issuer, audiences, algorithms, .. } = self.verifier;
        let url = url.into();
        let web = Web::from_issuer(&issuer).and(&url);
        let problem = self.problem.or_else(|| web.check(&url).err());
        let made = Verifier::new(web, issuer, String::new(), Some(url));
        Self { verifier: Verifier { audiences, algorithms, ..made }, problem }
    }

    /// Accepts only tokens that are signed with one of these algorithms. By default each [`Algorithm`] is accepted.
    #[must_use]
    pub fn algorithms(mut self, algorithms: impl IntoIterator<Item = Algorithm>) -> Self {
        self.verifier.algorithms = algorithms.into_iter().collect();
        self
    }
}

impl fmt::Debug for Jwt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Jwt")
            .field("issuer", &self.verifier.issuer)
            .field("audiences", &self.verifier.audiences)
            .finish_non_exhaustive()
    }
}

impl TokenVerifier for Jwt {
    async fn verify(&self, token: &str) -> Result<Authorization, Denied> {
        self.verifier.verify(token).await
    }

    fn authorization_servers(&self) -> Vec<String> {
        vec![self.verifier.issuer.clone()]
    }

    fn resource(&self) -> Option<String> {
        let is_url = |it: &&String| it.starts_with("https://") || it.starts_with("http://");
        self.verifier.audiences.iter().find(is_url).cloned()
    }

    fn problem(&self) -> Option<String> {
        if self.verifier.audiences.iter().any(String::is_empty) {
            return Some("the audience is empty: name this server's URL".to_owned());
        }
        if self.verifier.algorithms.is_empty() {
            return Some("no algorithm is allowed, so no token would be good".to_owned());
        }
        self.problem.clone()
    }
}

/// Implementation of [`Jwt`], for any source of keys.
pub(super) struct Verifier<F> {
    issuer: String,
    audiences: Vec<String>,
    algorithms: Vec<Algorithm>,
    keys: Keys<F>,
    seen: Seen,
}

impl<F: Fetch> Verifier<F> {
    pub(super) fn new(
        fetch: F,
        issuer: String,
        audience: String,
        jwks_uri: Option<String>,
    ) -> Self {
        Self {
            audiences: vec![audience],
            algorithms: Algorithm::ALL.to_vec(),
            keys: Keys::new(fetch, issuer.clone(), jwks_uri),
            issuer,
            seen: Seen::new(),
        }
    }

    pub(super) async fn verify(&self, token: &str) -> Result<Authorization, Denied> {
        let fingerprint = self.seen.fingerprint(token);
        if let (Some(fingerprint), Some(version)) = (&fingerprint, self.keys.fresh())
            && let Some(authorization) = self.seen.find(fingerprint, version)
        {
            // The expiry is checked here too, because a verifier of the author may wrap this one and leave the expiry out.
            let has_ended = authorization.expiry().is_some_and(|it| it <= SystemTime::now());
            return if has_ended {
                Err(Denied::invalid("the token has expired"))
            } else {
                Ok(authorization)
            };
        }
        let unverified = Unverified::parse(token).map_err(Denied::invalid)?;
        let algorithm = unverified.algorithm;
        if !self.algorithms.contains(&algorithm) {
            let why = "the token is not signed with an algorithm that is allowed";
            return Err(Denied::invalid(why));
        }
        let id = unverified.key.as_deref();
        let keys = self.keys.find(id, algorithm).await.map_err(Denied::unavailable)?;
        let is_signed = keys
            .set
            .candidates(id, algorithm)
            .any(|key| algorithm.verify(key, unverified.message, &unverified.signature));
        if !is_signed {
            return Err(Denied::invalid("the token is not signed with a key of the issuer"));
        }
        let payload = unverified.payload().map_err(Denied::invalid)?;
        let claims = Claims::parse(&payload).map_err(Denied::invalid)?;
        let authorization = claims.judge(&self.issuer, &self.audiences, SystemTime::now());
        let authorization = authorization.map_err(Denied::invalid)?.claims_json(payload);
        if let Some(fingerprint) = fingerprint {
            self.seen.remember(fingerprint, keys.version, authorization.clone());
        }
        Ok(authorization)
    }
}
