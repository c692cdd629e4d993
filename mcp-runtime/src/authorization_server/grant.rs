use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{secret::Digest, user::User};
use crate::call::context::Authorization;

/// Time for which a grant is valid without a refresh, in seconds.
pub(super) const IDLE: u64 = 30 * 24 * 60 * 60;

/// Grant of a user to a client.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Grant {
    pub(super) client: String,
    /// Name that the client gave itself when the user was asked.
    pub(super) client_name: Option<String>,
    pub(super) user: User,
    pub(super) scopes: Vec<String>,
    pub(super) resource: String,
    pub(super) since: u64,
    pub(super) ends: u64,
    pub(super) refresh: Option<Refresh>,
    pub(super) tokens: Vec<Access>,
    /// Tokens of the upstream provider, if one has authenticated the user.
    pub(super) backing: Option<Backing>,
}

/// Sealed tokens of the upstream provider.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Backing {
    pub(super) sealed: String,
    /// Expiry of the upstream access token, in seconds since 1970. Access tokens of this server expire no later.
    pub(super) until: u64,
    /// Whether the provider has given a refresh token.
    pub(super) refreshes: bool,
    /// Upstream access token for handlers, if `Upstream::hand_over` was called.
    #[serde(skip)]
    pub(super) token: Option<Arc<str>>,
}

/// The refresh tokens of a grant.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Refresh {
    pub(super) current: Digest,
    /// Tokens that ended processes have given in answer to `previous`. The client may have received one of them, or none, so each is
    /// as good as `current`. The use of one ends all others. A process adds at most one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) alternatives: Vec<Digest>,
    /// Token that was used last, and the time of its first use.
    pub(super) previous: Option<(Digest, u64)>,
}

impl Refresh {
    pub(super) fn first(current: Digest) -> Self {
        Self { current, alternatives: Vec::new(), previous: None }
    }

    /// Whether this token may be used now.
    pub(super) fn is_current(&self, shown: Digest) -> bool {
        self.current == shown || self.alternatives.contains(&shown)
    }

    /// Records that `shown` was used now and answered with `next`.
    pub(super) fn used(&mut self, shown: Digest, next: Digest, now: u64) {
        if self.is_current(shown) {
            *self = Self { previous: Some((shown, now)), ..Self::first(next) };
        } else if !self.is_current(next) {
            // `current` is the answer of an ended process to the same token. This process has another key, and so another answer.
            self.alternatives.push(std::mem::replace(&mut self.current, next));
        }
    }
}

/// An access token.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Access {
    pub(super) digest: Digest,
    pub(super) expires: u64,
    pub(super) scopes: Vec<String>,
}

impl Grant {
    pub(super) fn new(
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

    /// Returns the time at which the grant ends without a refresh, in seconds since 1970.
    pub(super) fn end_from(&self, now: u64) -> u64 {
        match &self.backing {
            Some(backing) if !backing.refreshes => backing.until,
            _ => now + IDLE,
        }
    }

    pub(super) fn authorization(&self, scopes: &[String], expires: u64) -> Authorization {
        let authorization = self.user.authorization(scopes, expires);
        match self.backing.as_ref().and_then(|it| it.token.clone()) {
            Some(token) => authorization.upstream(token),
            None => authorization,
        }
    }
}
