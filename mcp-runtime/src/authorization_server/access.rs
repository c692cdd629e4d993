//! Access tokens that are good, as every request looks for them.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use super::secret::Digest;
use crate::context::Authorization;

/// In parts, so that sessions seldom wait for each other, and never for a login.
#[derive(Default)]
pub(super) struct AccessTokens([Mutex<HashMap<Digest, Known>>; 16]);

/// What a request needs to know of its token.
struct Known {
    authorization: Authorization,
    grant: Digest,
    expires: u64,
}

impl AccessTokens {
    fn part(&self, digest: &Digest) -> MutexGuard<'_, HashMap<Digest, Known>> {
        let part = &self.0[usize::from(digest.first()) % self.0.len()];
        part.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn insert(
        &self,
        digest: Digest,
        grant: Digest,
        authorization: Authorization,
        expires: u64,
    ) {
        let known = Known { authorization, grant, expires };
        self.part(&digest).insert(digest, known);
    }

    pub(super) fn remove(&self, digest: &Digest) {
        self.part(digest).remove(digest);
    }

    /// Which grant one is of.
    pub(super) fn grant(&self, digest: &Digest) -> Option<Digest> {
        self.part(digest).get(digest).map(|it| it.grant)
    }

    /// Whom it lets in.
    pub(super) fn verify(&self, digest: &Digest, now: u64) -> Option<Authorization> {
        let part = self.part(digest);
        let known = part.get(digest).filter(|it| it.expires > now)?;
        Some(known.authorization.clone())
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.0.iter().map(|it| it.lock().unwrap().len()).sum()
    }
}
