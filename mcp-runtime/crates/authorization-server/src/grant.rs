//! A grant, which records that a user allows a client to act for the user, and the access tokens of grants.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use mcp_runtime::auth::Authorization;
use serde::{Deserialize, Serialize};

use crate::{login::User, oauth_error::OAuthError, secret::Digest};

/// Time for which a grant is valid without a refresh, in seconds.
pub(crate) const IDLE: u64 = 30 * 24 * 60 * 60;

/// Lifetime of an access token, in seconds.
pub(crate) const ACCESS: u64 = 60 * 60;

/// Time for which a used refresh token can be exchanged again for the same tokens, in seconds.
pub(crate) const GRACE: u64 = 10;

/// Maximum number of access tokens of a grant. The oldest are evicted.
pub(crate) const TOKENS: usize = 8;

/// Maximum number of grants of a user. The grant that would end first is evicted.
pub(crate) const OF_USER: usize = 128;

/// Length of a grant's name in characters. Each refresh token starts with the name of its grant. If several nodes share the store, each
/// access token does so too.
const NAME: usize = 22;

/// Grant of a user to a client.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Grant {
    pub(crate) client: String,
    /// Name of the client at the time of the user's consent.
    pub(crate) client_name: Option<String>,
    pub(crate) user: User,
    pub(crate) scopes: Vec<String>,
    pub(crate) resource: String,
    pub(crate) since: u64,
    pub(crate) ends: u64,
    pub(crate) refresh: Option<RefreshTokens>,
    pub(crate) tokens: Vec<AccessToken>,
    /// Tokens of the upstream provider, if a provider has authenticated the user.
    pub(crate) backing: Option<SealedTokens>,
}

/// Sealed tokens of the upstream provider.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct SealedTokens {
    pub(crate) sealed: String,
    /// Expiry of the upstream access token, in seconds since 1970. Access tokens of this server expire no later.
    pub(crate) until: u64,
    /// Whether the provider has given a refresh token.
    pub(crate) refreshes: bool,
    /// Upstream access token for handlers, if `Upstream::hand_over` was called.
    #[serde(skip)]
    pub(crate) token: Option<Arc<str>>,
}

/// The refresh tokens of a grant.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct RefreshTokens {
    pub(crate) current: Digest,
    /// Tokens that earlier processes issued in exchange for `previous`. The client may have received any one of them, so each is as valid
    /// as `current`. When the client uses one of these tokens, the others become invalid. Each process adds at most one token.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) alternatives: Vec<Digest>,
    /// Token that the client exchanged last, and the time of the first exchange.
    pub(crate) previous: Option<(Digest, u64)>,
}

impl RefreshTokens {
    pub(crate) fn first(current: Digest) -> Self {
        Self { current, alternatives: Vec::new(), previous: None }
    }

    /// Whether this token is valid, and no exchange has replaced it yet.
    pub(crate) fn is_current(&self, shown: Digest) -> bool {
        self.current == shown || self.alternatives.contains(&shown)
    }

    /// Whether this is the token that the client exchanged last.
    pub(crate) fn is_previous(&self, shown: Digest) -> bool {
        self.previous.is_some_and(|previous| previous.0 == shown)
    }

    /// Records that the client has exchanged the token `shown` for the token `next`.
    pub(crate) fn used(&mut self, shown: Digest, next: Digest, now: u64) {
        if self.is_current(shown) {
            *self = Self { previous: Some((shown, now)), ..Self::first(next) };
        } else if !self.is_current(next) {
            // An earlier process issued `current` in exchange for `shown`. This process has a different key, so it derives a different
            // token. Both tokens stay valid.
            self.alternatives.push(std::mem::replace(&mut self.current, next));
        }
    }
}

/// Tokens issued to a client.
pub(crate) struct IssuedTokens {
    /// Key of the grant.
    pub(crate) grant: Digest,
    pub(crate) access: String,
    pub(crate) refresh: Option<String>,
    pub(crate) scopes: Vec<String>,
    pub(crate) expires_in: u64,
}

/// Validity of a stored grant after a restart, or on another node.
pub(crate) enum Standing {
    Good,
    /// The grant belongs to another server, or to this server under another URL.
    Elsewhere,
    /// The grant does not fit the login method of the server, or its upstream tokens cannot be opened.
    Lost,
}

/// An access token.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct AccessToken {
    pub(crate) digest: Digest,
    pub(crate) expires: u64,
    pub(crate) scopes: Vec<String>,
}

impl Grant {
    pub(crate) fn new(
        client: String,
        client_name: Option<String>,
        user: User,
        scopes: Vec<String>,
        resource: String,
    ) -> Self {
        Self {
            client,
            client_name,
            user,
            scopes,
            resource,
            since: 0,
            ends: 0,
            refresh: None,
            tokens: Vec::new(),
            backing: None,
        }
    }

    /// Returns the time at which the grant ends unless it is refreshed, in seconds since 1970.
    pub(crate) fn end_from(&self, now: u64) -> u64 {
        match &self.backing {
            Some(backing) if !backing.refreshes => backing.until,
            _ => now + IDLE,
        }
    }

    /// Sets the times of a new grant, and its first refresh token, if there is one.
    pub(crate) fn start(&mut self, refresh: Option<&str>, now: u64) {
        self.since = now;
        self.ends = if refresh.is_some() { self.end_from(now) } else { now + ACCESS };
        self.refresh = refresh.map(|token| RefreshTokens::first(Digest::of(token)));
    }

    /// Returns the granted scopes among those that a refresh requests, or all of them. Each scope is returned once even if the request
    /// repeats it.
    ///
    /// # Errors
    /// Fails if the user has not granted all of the requested scopes.
    pub(crate) fn narrowed(&self, requested: Option<&[String]>) -> Result<Vec<String>, OAuthError> {
        let Some(requested) = requested else { return Ok(self.scopes.clone()) };
        if !requested.iter().all(|scope| self.scopes.contains(scope)) {
            return Err(OAuthError::invalid_scope("the user has not granted all requested scopes"));
        }
        Ok(self.scopes.iter().filter(|scope| requested.contains(scope)).cloned().collect())
    }

    /// Records that the client has exchanged the refresh token `shown` for the token `next`. `backing` replaces the upstream tokens.
    pub(crate) fn refreshed(
        &mut self,
        shown: Digest,
        next: Digest,
        backing: Option<SealedTokens>,
        now: u64,
    ) {
        if let Some(refresh) = &mut self.refresh {
            refresh.used(shown, next, now);
        }
        if backing.is_some() {
            self.backing = backing;
        }
        self.ends = self.end_from(now);
    }

    /// Adds an access token. Returns its expiry, and the access tokens that are dropped.
    pub(crate) fn add_token(
        &mut self,
        digest: Digest,
        scopes: &[String],
        now: u64,
    ) -> (u64, Vec<Digest>) {
        let until = self.backing.as_ref().map_or(u64::MAX, |tokens| tokens.until);
        let expires = until.min(now + ACCESS);
        // If a refresh is repeated, the grant already has this token, which must not be listed twice.
        self.tokens.retain(|token| token.digest != digest);
        self.tokens.push(AccessToken { digest, expires, scopes: scopes.to_vec() });
        let beyond = self.tokens.len().saturating_sub(TOKENS);
        let mut gone: Vec<_> = self.tokens.drain(..beyond).map(|token| token.digest).collect();
        self.tokens.retain(|token| {
            let is_kept = token.expires > now;
            if !is_kept {
                gone.push(token.digest);
            }
            is_kept
        });
        (expires, gone)
    }

    /// Removes an access token that its client has revoked. Returns whether the grant had the token.
    pub(crate) fn revoke(&mut self, digest: Digest) -> bool {
        let before = self.tokens.len();
        self.tokens.retain(|token| token.digest != digest);
        // The client has received the response with this token, so the grace period ends. Otherwise a repeated refresh would issue the
        // revoked token again.
        if let Some(refresh) = &mut self.refresh {
            refresh.previous = None;
        }
        self.tokens.len() < before
    }

    pub(crate) fn authorization(&self, scopes: &[String], expires: u64) -> Authorization {
        let authorization = self.user.authorization(scopes, expires);
        match self.backing.as_ref().and_then(|tokens| tokens.token.clone()) {
            Some(token) => authorization.with_upstream_token(token),
            None => authorization,
        }
    }
}

/// Returns the part of a token that names its grant.
pub(crate) fn grant_name(token: &str) -> &str {
    token.get(..NAME).unwrap_or(token)
}

/// Access tokens in 16 parts, each with its own lock, so that requests rarely wait for each other, and never for the lock of the grants.
#[derive(Default)]
pub(crate) struct AccessTokens([Mutex<HashMap<Digest, KnownToken>>; 16]);

/// Data with which the server verifies an access token.
struct KnownToken {
    authorization: Authorization,
    grant: Digest,
    expires: u64,
}

impl AccessTokens {
    fn part(&self, digest: &Digest) -> MutexGuard<'_, HashMap<Digest, KnownToken>> {
        let part = &self.0[usize::from(digest.first()) % self.0.len()];
        part.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn insert(
        &self,
        digest: Digest,
        grant: Digest,
        authorization: Authorization,
        expires: u64,
    ) {
        let mut part = self.part(&digest);
        // A token that is issued again keeps its revocation flag, which open streams share.
        let known = part.get(&digest).and_then(|token| token.authorization.revoked().cloned());
        let revoked = known.unwrap_or_else(|| Arc::new(AtomicBool::new(false)));
        let authorization = authorization.revocable(revoked);
        part.insert(digest, KnownToken { authorization, grant, expires });
    }

    /// Revokes a token. Streams that were opened with the token end too.
    pub(crate) fn remove(&self, digest: &Digest) {
        let known = self.part(digest).remove(digest);
        if let Some(revoked) = known.as_ref().and_then(|token| token.authorization.revoked()) {
            revoked.store(true, Ordering::Release);
        }
    }

    /// Returns the grant of a token.
    pub(crate) fn grant(&self, digest: &Digest) -> Option<Digest> {
        self.part(digest).get(digest).map(|token| token.grant)
    }

    /// Returns the authorization of a token that has not expired.
    pub(crate) fn verify(&self, digest: &Digest, now: u64) -> Option<Authorization> {
        let part = self.part(digest);
        let known = part.get(digest).filter(|token| token.expires > now)?;
        Some(known.authorization.clone())
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.0.iter().map(|part| part.lock().unwrap().len()).sum()
    }
}
