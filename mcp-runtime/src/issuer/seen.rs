//! Cache of verified tokens, because checking a signature costs several times as much as the rest of a call.

use std::sync::{Mutex, PoisonError};

use ring::{
    aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey},
    rand::{SecureRandom as _, SystemRandom},
};
use rustc_hash::FxHashMap;

use crate::call::context::Authorization;

/// Maximum number of tokens in each half of a part. A token stays at least until as many others have come.
const MOST: usize = 256;

/// Maximum length of a cached token, in bytes. Longer tokens are verified each time, so that the cache stays small.
const LONGEST: usize = 4 << 10;

type Fingerprint = [u8; 16];

/// Verified tokens, by their fingerprints, so that the tokens themselves are not stored. The cache has several parts, so that threads
/// seldom wait for each other.
pub(super) struct Seen {
    /// `None` if the system provides no random numbers. Nothing is cached then.
    key: Option<LessSafeKey>,
    parts: [Mutex<Part>; 8],
}

/// Newer and older tokens. When the newer half is full, it replaces the older half.
#[derive(Default)]
struct Part([FxHashMap<Fingerprint, Good>; 2]);

#[derive(Clone)]
struct Good {
    authorization: Authorization,
    /// Version of the keys that the token was verified with. The entry is valid for this version only.
    keys: u64,
}

impl Part {
    fn insert(&mut self, fingerprint: Fingerprint, good: Good) {
        if self.0[0].len() >= MOST {
            self.0[1] = std::mem::take(&mut self.0[0]);
        }
        self.0[0].insert(fingerprint, good);
    }
}

impl Seen {
    pub(super) fn new() -> Self {
        let mut key = [0; 32];
        let is_random = SystemRandom::new().fill(&mut key).is_ok();
        let key = UnboundKey::new(&CHACHA20_POLY1305, &key).ok().filter(|_| is_random);
        Self { key: key.map(LessSafeKey::new), parts: Default::default() }
    }

    /// Returns the fingerprint by which a token is cached; `None` if the token is not cached.
    ///
    /// The fingerprint is Poly1305 under a random key that is never shown, which costs a quarter of SHA-256. As long as no fingerprint gets
    /// out, two tokens have the same one with a chance of less than 2^-90, even if an attacker chooses them. None gets out, and nothing is
    /// encrypted, so the nonce need not change.
    pub(super) fn fingerprint(&self, token: &str) -> Option<Fingerprint> {
        let key = self.key.as_ref().filter(|_| token.len() <= LONGEST)?;
        let nonce = Nonce::assume_unique_for_key([0; NONCE_LEN]);
        let tag = key.seal_in_place_separate_tag(nonce, Aad::from(token), &mut []);
        tag.ok()?.as_ref().try_into().ok()
    }

    fn part(&self, fingerprint: &Fingerprint) -> std::sync::MutexGuard<'_, Part> {
        let part = &self.parts[usize::from(fingerprint[0]) % self.parts.len()];
        part.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the authorization of a token that was verified with this version of the keys. The token may have expired since then.
    pub(super) fn find(&self, fingerprint: &Fingerprint, keys: u64) -> Option<Authorization> {
        let mut part = self.part(fingerprint);
        if let Some(good) = part.0[0].get(fingerprint) {
            return (good.keys == keys).then(|| good.authorization.clone());
        }
        let good = part.0[1].remove(fingerprint).filter(|it| it.keys == keys)?;
        part.insert(*fingerprint, good.clone());
        Some(good.authorization)
    }

    pub(super) fn remember(
        &self,
        fingerprint: Fingerprint,
        keys: u64,
        authorization: Authorization,
    ) {
        self.part(&fingerprint).insert(fingerprint, Good { authorization, keys });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_of_verified_tokens_is_bounded_and_ends_with_the_keys() {
        let seen = Seen::new();
        let fingerprint = |it: u32| seen.fingerprint(&format!("token{it}")).unwrap();
        let all: Vec<_> = (0..20_000).map(fingerprint).collect();
        for it in &all {
            seen.remember(*it, 1, Authorization::new("ada"));
        }
        let kept = all.iter().filter(|it| seen.find(it, 1).is_some()).count();
        assert!((MOST * 8..=MOST * 16).contains(&kept), "{kept}");
        let last = all.last().unwrap();
        assert!(seen.find(last, 2).is_none() && seen.find(last, 1).is_some());
        assert!(seen.fingerprint(&"a".repeat(LONGEST + 1)).is_none());
    }

    #[test]
    fn a_fingerprint_depends_on_the_whole_token_and_on_the_process() {
        let (seen, other) = (Seen::new(), Seen::new());
        let token = "a".repeat(LONGEST);
        let own = seen.fingerprint(&token);
        assert!(own.is_some() && own == seen.fingerprint(&token));
        assert_ne!(own, other.fingerprint(&token), "each process has a key of its own");
        for at in [0, 1, 15, 16, 2_000, LONGEST - 1] {
            let mut changed = token.clone();
            changed.replace_range(at..=at, "b");
            assert_ne!(own, seen.fingerprint(&changed), "{at}");
        }
        assert_ne!(own, seen.fingerprint(&token[1..]));
    }
}
