//! Registered clients, which every node knows at once.

use std::{sync::Arc, time::Duration};

use mcp_runtime::{
    limits::Limit,
    store::{Condition, StoreOperation, Transaction},
};

use crate::{
    client::{Client, UNUSED, USED},
    nodes::{
        shards::{Added, NewEntry, SHARDS, Shards},
        shared_store::{SharedStore, json},
    },
    oauth_error::{OAuthError, RefusalCounts},
    secret::Digest,
};

/// Maximum number of clients in a partition. All partitions together have 10,000.
const MOST: u32 = 625;

/// Length of the id of a registered client in characters.
const ID: usize = 22;

/// Clients of all nodes.
pub(crate) struct SharedClients {
    store: Arc<SharedStore>,
    shards: Shards,
    counts: RefusalCounts,
}

fn shard(id: &str) -> u8 {
    Digest::of(id).first() % SHARDS
}

impl SharedClients {
    pub(crate) fn new(store: Arc<SharedStore>, counts: RefusalCounts) -> Self {
        let shards = Shards::new(store.clone(), "clients", MOST);
        Self { store, shards, counts }
    }

    /// Adds a client. If there are too many, an unused client is evicted.
    ///
    /// # Errors
    /// Fails if all clients are in use, or if the store cannot be used.
    pub(crate) async fn add(&self, client: &Client, now: u64) -> Result<(), OAuthError> {
        let entry = NewEntry {
            shard: shard(&client.id),
            id: &client.id,
            name: &client.id,
            order: client.expires,
            records: vec![(client.id.clone(), json(client)?)],
            ttl: Duration::from_secs(client.expires.saturating_sub(now)),
        };
        // The first entry expires first. If it expires later than an unused client can, all clients are in use, and none is evicted.
        let limit = Limit::RegisteredClients;
        let unused = now + UNUSED;
        let added = self.shards.add(&entry, 1, |entries| {
            entries.first().filter(|entry| entry.order <= unused).map(|_| 0)
        });
        match added.await? {
            Added::Good(evicted) => {
                (0..evicted).for_each(|_| self.counts.count(limit));
                Ok(())
            }
            Added::Full => Err(self.counts.limit_reached(limit, "there are too many clients")),
        }
    }

    /// Returns the registered client with this id.
    pub(crate) async fn find(&self, id: &str, now: u64) -> Result<Option<Arc<Client>>, OAuthError> {
        let is_id = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
        if id.len() != ID || !id.bytes().all(is_id) {
            return Ok(None);
        }
        let found = self.store.get(self.shards.partition(shard(id)), id).await?;
        let client: Option<Client> = found.map(|found| self.store.read(&found)).transpose()?;
        Ok(client.filter(|client| client.id == id && client.expires > now).map(Arc::new))
    }

    /// Extends the lifetime of a client that was used.
    pub(crate) async fn extend(&self, client: &Client, now: u64) -> Result<(), OAuthError> {
        let client = Client { expires: now + USED, ..client.clone() };
        let (id, ttl) = (&*client.id, Duration::from_secs(USED));
        let put = StoreOperation::put(id, json(&client)?, ttl, Condition::Any);
        let extend = Transaction::on(self.shards.partition(shard(id))).then(put);
        let renewal = self.shards.renewal(id, id, client.expires, ttl);
        let extend = renewal.into_iter().fold(extend, Transaction::then);
        self.store.apply(extend).await.map(drop)
    }
}
