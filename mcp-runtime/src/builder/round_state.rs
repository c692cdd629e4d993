//! Settings of the state that a call keeps between its rounds.

use std::{sync::Arc, time::Duration};

use super::Builder;
#[cfg(feature = "state-key")]
use crate::ask::{SealedStorage, Sealer};
use crate::{
    ask::{ProcessStorage, StateStorage},
    limits::{Limits, Tally},
};

#[derive(Clone)]
pub(super) struct StateSettings {
    #[cfg(feature = "state-key")]
    keys: Vec<[u8; 32]>,
    lifetime: Duration,
}

impl Default for StateSettings {
    fn default() -> Self {
        Self {
            #[cfg(feature = "state-key")]
            keys: Vec::new(),
            lifetime: Duration::from_secs(15 * 60),
        }
    }
}

impl StateSettings {
    /// Returns the storage that the settings ask for: sealed if there is a key, in the process otherwise.
    pub(super) fn storage(self, limits: &Limits, tally: Arc<Tally>) -> Box<dyn StateStorage> {
        #[cfg(feature = "state-key")]
        if let Some(sealer) = Sealer::new(self.keys) {
            return Box::new(SealedStorage::new(sealer, self.lifetime));
        }
        Box::new(ProcessStorage::new(self.lifetime, limits.all_state, tally))
    }
}

impl Builder {
    /// Seals the state of a call between its rounds with this key, and sends the state to the client (`requestState`, protocol revision
    /// 2026-07-28).
    ///
    /// Set the same key in all instances of a server that share an address. Each of them then goes on with calls that another one has
    /// begun, and calls survive a restart. The key must be random and secret: with it, a client could write its own state. Without a key
    /// the state stays in the process. A handler sees no difference.
    ///
    /// Call it several times to rotate keys: the first key seals new state, every key opens existing state. Put the new key first, and keep
    /// the old one for as long as [state may be used](Builder::state_lifetime).
    ///
    /// ```no_run
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let key = std::fs::read("/run/secrets/state-key")?;
    /// let server = mcp_runtime::server!().state_key(key.try_into().map_err(|_| "the key has not 32 bytes")?);
    /// # let _ = server;
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "state-key")]
    #[must_use]
    pub fn state_key(mut self, key: [u8; 32]) -> Self {
        self.state_settings.keys.push(key);
        self
    }

    /// Time that a user may take to answer under protocol revision 2026-07-28, where a question ends the call. After that the client has
    /// to begin the call again. Default: 15 minutes.
    ///
    /// ```
    /// # use std::time::Duration;
    /// let server = mcp_runtime::server!().state_lifetime(Duration::from_secs(60 * 60));
    /// # let _ = server;
    /// ```
    #[must_use]
    #[track_caller]
    pub fn state_lifetime(mut self, lifetime: Duration) -> Self {
        if lifetime.is_zero() {
            self.refuse(
                "state_lifetime",
                "it is zero, and no user could answer in that time: pass a longer one",
            );
        }
        self.state_settings.lifetime = lifetime;
        self
    }
}
