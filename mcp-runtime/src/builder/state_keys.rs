//! The keys that seal what a call keeps between its rounds.

use std::time::Duration;

use super::Builder;
use crate::ask::Sealer;

#[derive(Clone)]
pub(super) struct StateKeys {
    keys: Vec<[u8; 32]>,
    lifetime: Duration,
}

impl Default for StateKeys {
    fn default() -> Self {
        Self { keys: Vec::new(), lifetime: Duration::from_secs(15 * 60) }
    }
}

impl StateKeys {
    /// Without a key that somebody gave, one that nobody else has: what is sealed dies with the process.
    pub(super) fn sealer(self) -> Sealer {
        Sealer::new(self.keys, self.lifetime)
    }
}

impl Builder {
    /// Seals what a call keeps between its rounds (`requestState`, 2026-07-28) with this key, so that several instances of a
    /// server can take turns, and a conversation survives a restart. Without it each process makes its own.
    ///
    /// Said several times, the first key seals and all of them open: to change keys, put the new one first for as long as what the
    /// old one sealed [may be used](Builder::state_lifetime).
    #[must_use]
    pub fn state_key(mut self, key: [u8; 32]) -> Self {
        self.state_keys.keys.push(key);
        self
    }

    /// How long a person may take to answer before the call has to begin again, in the revision that asks by ending the call; 15 minutes
    /// unless said.
    #[must_use]
    #[track_caller]
    pub fn state_lifetime(mut self, lifetime: Duration) -> Self {
        if lifetime.is_zero() {
            self.refuse("state_lifetime", "nobody could answer in no time");
        }
        self.state_keys.lifetime = lifetime;
        self
    }
}
