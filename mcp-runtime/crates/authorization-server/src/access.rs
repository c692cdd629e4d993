//! Valid access tokens, looked up by every request.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use super::secret::Digest;
use mcp_runtime::Authorization;

/// Access tokens in 16 parts, each with its own lock. Requests seldom wait for each other, and never for the lock of the grants.
#[derive(Default)]
pub(crate) struct AccessTokens([Mutex<HashMap<Digest, Known>>; 16]);

/// Data that a request needs about its token.
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

    pub(crate) fn insert(
        &self,
        digest: Digest,
        grant: Digest,
        authorization: Authorization,
        expires: u64,
    ) {
        let mut part = self.part(&digest);
        // A token that is issued again keeps its revocation flag, which open streams share.
        let known = part.get(&digest).and_then(|it| it.authorization.revoked().cloned());
        let revoked = known.unwrap_or_else(|| Arc::new(AtomicBool::new(false)));
        let authorization = authorization.revocable(revoked);
        part.insert(digest, Known { authorization, grant, expires });
    }

    /// Revokes a token, also for the streams that were opened with it.
    pub(crate) fn remove(&self, digest: &Digest) {
        let known = self.part(digest).remove(digest);
        if let Some(revoked) = known.as_ref().and_then(|it| it.authorization.revoked()) {
            revoked.store(true, Ordering::Release);
        }
    }

    /// Returns the grant of a token.
    pub(crate) fn grant(&self, digest: &Digest) -> Option<Digest> {
        self.part(digest).get(digest).map(|it| it.grant)
    }

    /// Returns the authorization of a token that has not expired.
    pub(crate) fn verify(&self, digest: &Digest, now: u64) -> Option<Authorization> {
        let part = self.part(digest);
        let known = part.get(digest).filter(|it| it.expires > now)?;
        Some(known.authorization.clone())
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.0.iter().map(|it| it.lock().unwrap().len()).sum()
    }
}
