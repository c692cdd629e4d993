//! Tokens that were good a moment ago. Checking a signature costs several times what the rest of a call does.

use std::sync::{Mutex, PoisonError};

use ring::{
    aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey},
    rand::{SecureRandom as _, SystemRandom},
};
use rustc_hash::FxHashMap;

use crate::context::Authorization;

/// Of each half of a part: a token stays at least until as many others have come.
const MOST: usize = 256;

/// Longer ones are verified each time, so that what is remembered stays small.
const LONGEST: usize = 4 << 10;

type Fingerprint = [u8; 16];

/// Good tokens, by their fingerprints, so that the tokens themselves are nowhere. In parts, so that threads seldom wait for each other.
pub(super) struct Seen {
    /// `None` where the system gives no random numbers: nothing is remembered then.
    key: Option<LessSafeKey>,
    parts: [Mutex<Part>; 8],
}

/// The newer ones, and those that will go next.
#[derive(Default)]
struct Part([FxHashMap<Fingerprint, Good>; 2]);

#[derive(Clone)]
struct Good {
    authorization: Authorization,
    /// Of the keys that it was verified with: what they have signed goes with them.
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

    /// Where a token is kept, unless it is not.
    ///
    /// Poly1305 under a key that nobody knows, which costs a quarter of SHA-256: two tokens have the same with a chance of less than 2^-90,
    /// whoever chooses them, as long as no fingerprint gets out. Since none does, and nothing is encrypted, the nonce need not change.
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

    /// Whom this token lets in, if it was verified with these keys. Whether it has expired since is not looked at.
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
    fn what_is_remembered_is_bounded_and_goes_with_its_keys() {
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
    fn a_fingerprint_is_of_the_whole_token_and_nobody_elses() {
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
