//! Records that several nodes of one server share. Without a shared store, the tables in memory and the journal take their place.

mod clients;
mod codes;
mod ends;
mod grants;
mod key_ring;
mod known_grants;
mod limits;
mod pending;
mod shards;
mod shared_store;
mod users;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use mcp_runtime::{__companion::try_while_unavailable, store::Store};

use self::{
    clients::SharedClients, codes::SharedCodes, grants::SharedGrants, key_ring::KeyRing,
    limits::SharedLimits, pending::SharedAuthorizations, shared_store::SharedStore,
    users::SharedUsers,
};
pub(crate) use self::{
    grants::RefreshPlace,
    limits::{CallerRate, CountedAttempt},
};
use crate::{
    oauth_error::{OAuthError, RefusalCounts},
    provider::Provider,
};

/// All records that the nodes share.
pub(crate) struct SharedRecords {
    pub(crate) clients: SharedClients,
    pub(crate) pending: SharedAuthorizations,
    pub(crate) codes: SharedCodes,
    pub(crate) grants: Arc<SharedGrants>,
    pub(crate) users: Arc<SharedUsers>,
    pub(crate) limits: SharedLimits,
    keys: Arc<KeyRing>,
}

impl SharedRecords {
    pub(crate) fn new(
        store: Arc<dyn Store>,
        provider: Option<Arc<Provider>>,
        counts: &RefusalCounts,
    ) -> Self {
        let store = Arc::new(SharedStore::new(store));
        let keys = Arc::new(KeyRing::new(store.clone(), provider.clone()));
        let users = Arc::new(SharedUsers::new(store.clone()));
        let grants = SharedGrants::new(store.clone(), users.clone(), keys.clone(), counts.clone());
        Self {
            clients: SharedClients::new(store.clone(), counts.clone()),
            pending: SharedAuthorizations::new(store.clone(), counts.clone()),
            codes: SharedCodes::new(store.clone(), users.clone(), provider, counts.clone()),
            grants: Arc::new(grants),
            users,
            limits: SharedLimits::new(store),
            keys,
        }
    }

    /// Reads the key of all nodes, and begins to follow what happens on other nodes. Tries each of both again for about five seconds while the
    /// store is unavailable.
    ///
    /// # Errors
    /// Fails if the store cannot be used.
    pub(crate) async fn start(&self) -> Result<(), OAuthError> {
        let is_unavailable = OAuthError::is_store_unavailable;
        try_while_unavailable(is_unavailable, || self.keys.current()).await?;
        try_while_unavailable(is_unavailable, || self.grants.start()).await
    }
}
