//! Verifier for tokens that an issuer has signed. It caches verified tokens, because checking a signature costs several times as much as
//! the rest of a call.

use std::{
    fmt,
    sync::{Mutex, PoisonError},
    time::SystemTime,
};

use ring::{
    aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey},
    rand::{SecureRandom as _, SystemRandom},
};
use rustc_hash::FxHashMap;

use super::{
    fetch::{Fetch, Web},
    jwks::Algorithm,
    keys::Keys,
    token::{NO_ACCESS_TOKEN, TokenClaims, Unverified},
};
use crate::{
    authorization::{Denied, TokenVerifier},
    call::context::Authorization,
};

/// Maximum number of tokens in each half of a [`CachePart`]. A token stays cached at least until this number of other tokens has been added
/// to its part.
const MOST: usize = 256;

/// Maximum length of a cached token, in bytes. Longer tokens are verified each time, so that the cache stays small.
const LONGEST_CACHED: usize = 4 << 10;

/// Verifier of access tokens that an issuer has signed (JWT, RFC 9068).
///
/// Set it with [`Builder::auth`](crate::Builder::auth). Wrap it in a [`ProtectedResource`](crate::auth::ProtectedResource) to require
/// scopes. For tokens that are not JWTs, implement [`TokenVerifier`].
///
/// The server finds the keys through the metadata of the issuer (RFC 8414, or OpenID Connect) and caches them. It fetches the keys again
/// when they are ten minutes old, or when a token names an unknown key. There is at most one fetch in ten seconds, however many tokens name
/// unknown keys. While the issuer cannot be reached, the server uses known keys until they are an hour old.
///
/// A token is accepted if all of these conditions hold:
///
/// * The token is signed with one of these keys and with an allowed [`Algorithm`].
/// * Its `iss` is this issuer.
/// * Its `aud` is an audience of this server, or an array that contains one. In URLs, the case of the host, a default port and an empty path
///   make no difference.
/// * Its `exp` has not passed, and its `nbf` has. Clocks may differ by 30 seconds.
/// * It is no ID token and no event: its header has the type `at+jwt` (RFC 9068), or it has none of the claims `nonce`, `at_hash`, `c_hash`
///   and `events`.
/// * It has a `sub`, which becomes the caller's [`Principal`](crate::auth::Principal).
///
/// The scopes of the caller come from the claims `scope` and `scp`.
///
/// A token for several audiences is accepted, as RFC 9068 allows. Each service that the token names can then use the token at this server.
/// To avoid this, configure the issuer to issue a separate token for each service.
///
/// ```
/// use mcp_runtime::auth::Jwt;
///
/// let server = mcp_runtime::server!()
///     .auth(Jwt::new("https://login.example.com", "https://api.example.com/mcp"));
/// ```
///
/// The server sends its requests over `https` and follows no redirects. In private networks it contacts only the hosts that you name: the
/// issuer, and a [`jwks_uri`](Self::jwks_uri). An issuer on this machine (`http://localhost:8080`) needs no TLS.
///
/// The server reads its proxy from the environment variables that curl uses: `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY`, also in lower case.
/// The URL of the proxy may contain a user name and a password. If a host is named only in the issuer's documents, the server looks up the
/// host and passes the address to the proxy. Otherwise the proxy could connect to a private address. On a machine that cannot look up such
/// hosts, set the `jwks_uri`.
///
/// Specification: Base protocol, Authorization.
pub struct Jwt {
    verifier: Verifier<Web>,
    problem: Option<String>,
}

impl Jwt {
    /// Creates a verifier for tokens that `issuer` has issued for `audience`.
    ///
    /// Write the URL of the issuer exactly as it occurs in the claim `iss` of the tokens. The audience is the URL by which clients reach
    /// the server, or the identifier that the issuer uses for the server.
    pub fn new(issuer: impl Into<String>, audience: impl Into<String>) -> Self {
        let issuer = issuer.into();
        let web = Web::from_issuer(&issuer);
        let problem = web.problem().map(str::to_owned);
        Self { verifier: Verifier::new(web, issuer, audience.into(), None), problem }
    }

    /// Also accepts tokens for this audience, such as the identifier that the issuer uses for the server, or an earlier URL of the server.
    ///
    /// ```
    /// use mcp_runtime::auth::Jwt;
    ///
    /// let tokens = Jwt::new("https://login.example.com", "https://api.example.com/mcp");
    /// let tokens = tokens.audience("api://weather");
    /// ```
    #[must_use]
    pub fn audience(mut self, audience: impl Into<String>) -> Self {
        self.verifier.audiences.push(audience.into());
        self
    }

    /// Sets the URL of the issuer's keys, for an issuer that has no metadata. Default: the `jwks_uri` of the metadata.
    #[must_use]
    pub fn jwks_uri(self, url: impl Into<String>) -> Self {
        let Verifier { issuer, audiences, algorithms, kind, .. } = self.verifier;
        let url = url.into();
        let web = Web::from_issuer(&issuer).and(&url);
        let problem = self.problem.or_else(|| web.check(&url).err());
        let made = Verifier::new(web, issuer, String::new(), Some(url));
        Self { verifier: Verifier { audiences, algorithms, kind, ..made }, problem }
    }

    /// Accepts only tokens that are signed with one of these algorithms. By default each [`Algorithm`] is accepted.
    #[must_use]
    pub fn algorithms(mut self, algorithms: impl IntoIterator<Item = Algorithm>) -> Self {
        self.verifier.algorithms = algorithms.into_iter().collect();
        self
    }

    /// Accepts only tokens whose header has the type `at+jwt` (RFC 9068). Set it if the issuer writes this type: no other token of the issuer
    /// can then be used as an access token. By default, tokens of the type `JWT` and without a type are accepted too.
    ///
    /// ```
    /// use mcp_runtime::auth::Jwt;
    ///
    /// let tokens = Jwt::new("https://login.example.com", "https://api.example.com/mcp");
    /// let tokens = tokens.require_at_jwt();
    /// ```
    #[must_use]
    pub fn require_at_jwt(mut self) -> Self {
        self.verifier.kind = TokenKind::AtJwt;
        self
    }

    /// Accepts ID tokens (OpenID Connect Core, section 2) in place of access tokens. This is for code that logs users in by itself: it verifies
    /// the token with [`TokenVerifier::verify`], and compares the `nonce`. The audience is the id of the client. A server with such a
    /// verifier is not built, because an ID token is not for a server.
    ///
    /// ```
    /// use mcp_runtime::auth::Jwt;
    ///
    /// let tokens = Jwt::new("https://login.example.com", "client-of-this-program");
    /// let tokens = tokens.id_tokens();
    /// ```
    #[must_use]
    pub fn id_tokens(mut self) -> Self {
        self.verifier.kind = TokenKind::Id;
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
        let is_url = |audience: &&String| {
            audience.starts_with("https://") || audience.starts_with("http://")
        };
        self.verifier.audiences.iter().find(is_url).cloned()
    }

    fn problem(&self) -> Option<String> {
        if self.verifier.audiences.iter().any(String::is_empty) {
            return Some("the audience is empty: name this server's URL".to_owned());
        }
        if self.verifier.kind == TokenKind::Id {
            return Some("an ID token is not an access token: remove `.id_tokens()`".to_owned());
        }
        if self.verifier.algorithms.is_empty() {
            return Some("no algorithm is allowed, so every token would be rejected".to_owned());
        }
        self.problem.clone()
    }
}

/// Kind of the tokens that are accepted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TokenKind {
    /// Access tokens, with or without the type of RFC 9068.
    Access,
    /// Access tokens with this type.
    AtJwt,
    Id,
}

/// Implementation of [`Jwt`], for any source of keys.
pub(super) struct Verifier<F> {
    issuer: String,
    audiences: Vec<String>,
    algorithms: Vec<Algorithm>,
    kind: TokenKind,
    keys: Keys<F>,
    cache: TokenCache,
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
            kind: TokenKind::Access,
            keys: Keys::new(fetch, issuer.clone(), jwks_uri),
            issuer,
            cache: TokenCache::new(),
        }
    }

    pub(super) async fn verify(&self, token: &str) -> Result<Authorization, Denied> {
        let fingerprint = self.cache.fingerprint(token);
        if let (Some(fingerprint), Some(version)) = (&fingerprint, self.keys.fresh())
            && let Some(authorization) = self.cache.find(fingerprint, version)
        {
            // Checks the expiry here too, not only in `ProtectedResource`: a custom verifier may call this one, and return an authorization
            // without the expiry.
            let has_ended =
                authorization.expiry().is_some_and(|expiry| expiry <= SystemTime::now());
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
        let claims = TokenClaims::parse(&payload).map_err(Denied::invalid)?;
        let is_fit = match self.kind {
            TokenKind::Id => true,
            TokenKind::Access => unverified.is_at_jwt || !claims.are_of_another_token(),
            TokenKind::AtJwt => unverified.is_at_jwt,
        };
        if !is_fit {
            return Err(Denied::invalid(NO_ACCESS_TOKEN));
        }
        let authorization = claims.judge(&self.issuer, &self.audiences, SystemTime::now());
        let authorization = authorization.map_err(Denied::invalid)?.claims_json(payload);
        if let Some(fingerprint) = fingerprint {
            self.cache.remember(fingerprint, keys.version, authorization.clone());
        }
        Ok(authorization)
    }
}

type Fingerprint = [u8; 16];

/// Authorizations of verified tokens, keyed by fingerprint, so that the tokens themselves are not stored. The cache consists of several
/// parts with a lock each, so that threads seldom wait for each other.
struct TokenCache {
    /// Secret key of the fingerprints. `None` if the system provides no random numbers, in which case the cache stays empty.
    key: Option<LessSafeKey>,
    parts: [Mutex<CachePart>; 8],
}

/// Two halves: the newer tokens, then the older tokens. When the newer half is full, it replaces the older half.
#[derive(Default)]
struct CachePart([FxHashMap<Fingerprint, CachedToken>; 2]);

#[derive(Clone)]
struct CachedToken {
    authorization: Authorization,
    /// Version of the keys that the token was verified with. The entry is valid only for this version.
    keys: u64,
}

impl CachePart {
    fn insert(&mut self, fingerprint: Fingerprint, good: CachedToken) {
        if self.0[0].len() >= MOST {
            self.0[1] = std::mem::take(&mut self.0[0]);
        }
        self.0[0].insert(fingerprint, good);
    }
}

impl TokenCache {
    fn new() -> Self {
        let mut key = [0; 32];
        let is_random = SystemRandom::new().fill(&mut key).is_ok();
        let key = UnboundKey::new(&CHACHA20_POLY1305, &key).ok().filter(|_| is_random);
        Self { key: key.map(LessSafeKey::new), parts: Default::default() }
    }

    /// Returns the fingerprint by which a token is cached, or `None` if the token cannot be cached.
    ///
    /// The fingerprint is computed with Poly1305 and a random secret key, which costs a quarter of SHA-256. As long as fingerprints stay
    /// secret, two tokens have the same fingerprint with a probability below 2^-90, even if an attacker chooses the tokens. Fingerprints
    /// never leave this cache, and no text is encrypted, so the nonce need not change.
    fn fingerprint(&self, token: &str) -> Option<Fingerprint> {
        let key = self.key.as_ref().filter(|_| token.len() <= LONGEST_CACHED)?;
        let nonce = Nonce::assume_unique_for_key([0; NONCE_LEN]);
        let tag = key.seal_in_place_separate_tag(nonce, Aad::from(token), &mut []);
        tag.ok()?.as_ref().try_into().ok()
    }

    fn part(&self, fingerprint: &Fingerprint) -> std::sync::MutexGuard<'_, CachePart> {
        let part = &self.parts[usize::from(fingerprint[0]) % self.parts.len()];
        part.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the authorization of a token that was verified with this version of the keys. The token may have expired since then.
    fn find(&self, fingerprint: &Fingerprint, keys: u64) -> Option<Authorization> {
        let mut part = self.part(fingerprint);
        if let Some(good) = part.0[0].get(fingerprint) {
            return (good.keys == keys).then(|| good.authorization.clone());
        }
        let good = part.0[1].remove(fingerprint).filter(|good| good.keys == keys)?;
        part.insert(*fingerprint, good.clone());
        Some(good.authorization)
    }

    fn remember(&self, fingerprint: Fingerprint, keys: u64, authorization: Authorization) {
        self.part(&fingerprint).insert(fingerprint, CachedToken { authorization, keys });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_of_verified_tokens_is_bounded_and_ends_with_the_keys() {
        let cache = TokenCache::new();
        let fingerprint = |number: u32| cache.fingerprint(&format!("token{number}")).unwrap();
        let all: Vec<_> = (0..20_000).map(fingerprint).collect();
        for fingerprint in &all {
            cache.remember(*fingerprint, 1, Authorization::new("ada"));
        }
        let kept = all.iter().filter(|fingerprint| cache.find(fingerprint, 1).is_some()).count();
        assert!((MOST * 8..=MOST * 16).contains(&kept), "{kept}");
        let last = all.last().unwrap();
        assert!(cache.find(last, 2).is_none() && cache.find(last, 1).is_some());
        assert!(cache.fingerprint(&"a".repeat(LONGEST_CACHED + 1)).is_none());
    }

    #[test]
    fn a_fingerprint_depends_on_the_whole_token_and_on_the_process() {
        let (cache, other) = (TokenCache::new(), TokenCache::new());
        let token = "a".repeat(LONGEST_CACHED);
        let own = cache.fingerprint(&token);
        assert!(own.is_some() && own == cache.fingerprint(&token));
        assert_ne!(own, other.fingerprint(&token), "each process has a key of its own");
        for at in [0, 1, 15, 16, 2_000, LONGEST_CACHED - 1] {
            let mut changed = token.clone();
            changed.replace_range(at..=at, "b");
            assert_ne!(own, cache.fingerprint(&changed), "{at}");
        }
        assert_ne!(own, cache.fingerprint(&token[1..]));
    }
}
