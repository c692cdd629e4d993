//! State that travels through the client between two rounds, sealed with the author's key.

use std::{
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use super::{
    Sealer,
    seal::Broken,
    spent::Spent,
    storage::{RoundId, StateStorage, StoredState, unknown_state},
};
use crate::{error::Result, limits::Tenant};

/// Storage that sends sealed state to clients. Every process with the same key opens state that another process has sealed.
pub(crate) struct SealedStorage {
    sealer: Sealer,
    /// Time for which sealed state can be opened.
    lifetime: Duration,
    /// Single-use rounds that this process has seen.
    spent: Spent,
}

impl SealedStorage {
    pub(crate) fn new(sealer: Sealer, lifetime: Duration) -> Self {
        Self { sealer, lifetime, spent: Spent::default() }
    }
}

impl StateStorage for SealedStorage {
    /// Seals the time of expiry with the state, so the process that opens the state does not decide about it.
    fn put(&self, state: &[u8], bound: &[u8], _: &Arc<Tenant>) -> Result<String> {
        let expires = now().saturating_add(self.lifetime.as_secs().max(1));
        self.sealer.seal(&[&expires.to_le_bytes()[..], state].concat(), bound)
    }

    fn get(&self, text: &str, bound: &[u8]) -> Result<StoredState> {
        let (opened, bytes) = self.sealer.open(text, bound).map_err(|Broken| unknown_state())?;
        let (expires, state) = opened.split_first_chunk().ok_or_else(unknown_state)?;
        let expires = u64::from_le_bytes(*expires);
        if expires < now() {
            return Err(unknown_state());
        }
        Ok(StoredState { text: state.to_vec(), round: RoundId { bytes, expires } })
    }

    fn spend(&self, round: RoundId, tenant: &Arc<Tenant>) -> Result<()> {
        self.spent.spend(round, tenant, now())
    }

    fn digest(&self, words: &str) -> Result<String> {
        Ok(self.sealer.digest(words.as_bytes()))
    }

    fn is_digest(&self, digest: &str, words: &str) -> bool {
        self.sealer.is_digest(digest, words.as_bytes())
    }
}

/// Returns the seconds since 1970, a clock that several machines agree on.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |it| it.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::{Shares, Who};

    fn storage(lifetime: u64) -> SealedStorage {
        let sealer = Sealer::new(vec![[1; 32]]).unwrap();
        SealedStorage::new(sealer, Duration::from_secs(lifetime))
    }

    /// A round is remembered for as long as a client could send it again, even if another process has sealed it.
    #[test]
    fn a_round_lives_as_long_as_its_maker_said() {
        let tenant = Shares::default().tenant(Who::Peer(1));
        let sealed = storage(1000).put(b"state", b"call", &tenant).unwrap();
        let stored = storage(1).get(&sealed, b"call").unwrap();
        assert_eq!(stored.text, b"state");
        assert!(stored.round.expires >= now() + 990);
        assert!(storage(1).get(&sealed, b"another").is_err());
    }
}
