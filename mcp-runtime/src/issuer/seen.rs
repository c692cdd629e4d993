//! Tokens that were good a moment ago. Checking a signature costs several times what the rest of a call does.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use ring::digest::{SHA256, digest};

use crate::context::Authorization;

/// Of each half of a part: a token stays at least until as many others have come.
const MOST: usize = 256;

/// Longer ones are verified each time, so that what is remembered stays small.
const LONGEST: usize = 4 << 10;

type Digest = [u8; 32];

/// Good tokens, by their digests, so that the tokens themselves are nowhere. In parts, so that threads seldom wait for each other.
#[derive(Default)]
pub(super) struct Seen([Mutex<Part>; 8]);

/// The newer ones, and those that will go next.
#[derive(Default)]
struct Part([HashMap<Digest, Good>; 2]);

#[derive(Clone)]
struct Good {
    authorization: Authorization,
    /// Of the keys that it was verified with: what they have signed goes with them.
    keys: u64,
}

impl Part {
    fn insert(&mut self, digest: Digest, good: Good) {
        if self.0[0].len() >= MOST {
            self.0[1] = std::mem::take(&mut self.0[0]);
        }
        self.0[0].insert(digest, good);
    }
}

impl Seen {
    /// Where a token is kept, unless it is not.
    pub(super) fn digest(token: &str) -> Option<Digest> {
        let digest = (token.len() <= LONGEST).then(|| digest(&SHA256, token.as_bytes()))?;
        digest.as_ref().try_into().ok()
    }

    fn part(&self, digest: &Digest) -> std::sync::MutexGuard<'_, Part> {
        let part = &self.0[usize::from(digest[0]) % self.0.len()];
        part.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whom this token lets in, if it was verified with these keys. Whether it has expired since is not looked at.
    pub(super) fn find(&self, digest: &Digest, keys: u64) -> Option<Authorization> {
        let mut part = self.part(digest);
        if let Some(good) = part.0[0].get(digest) {
            return (good.keys == keys).then(|| good.authorization.clone());
        }
        let good = part.0[1].remove(digest).filter(|it| it.keys == keys)?;
        part.insert(*digest, good.clone());
        Some(good.authorization)
    }

    pub(super) fn remember(&self, digest: Digest, keys: u64, authorization: Authorization) {
        self.part(&digest).insert(digest, Good { authorization, keys });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_remembered_is_bounded_and_goes_with_its_keys() {
        let seen = Seen::default();
        let digests: Vec<_> =
            (0..20_000).map(|it| Seen::digest(&format!("token{it}")).unwrap()).collect();
        for digest in &digests {
            seen.remember(*digest, 1, Authorization::new("ada"));
        }
        let kept = digests.iter().filter(|it| seen.find(it, 1).is_some()).count();
        assert!((MOST * 8..=MOST * 16).contains(&kept), "{kept}");
        let last = digests.last().unwrap();
        assert!(seen.find(last, 2).is_none() && seen.find(last, 1).is_some());
        assert!(Seen::digest(&"a".repeat(LONGEST + 1)).is_none());
    }
}
