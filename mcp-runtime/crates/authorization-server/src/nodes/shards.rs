//! Records that callers without a token can create. Their number is therefore limited, and they are spread over a fixed number of
//! partitions.

use std::{sync::Arc, time::Duration};

use mcp_runtime::store::{Condition, IndexEntry, Output, Rejection, StoreOperation, Transaction};

use crate::{nodes::shared_store::SharedStore, oauth_error::OAuthError};

/// Number of partitions.
pub(super) const SHARDS: u8 = 16;

/// Name of the places and of the index in each partition.
const ALL: &str = "all";

/// Suffix of the second record of an id.
pub(super) const STATE: &str = ".state";

/// Number of evictions that are tried for one new record.
const EVICTIONS: usize = 3;

/// Records of one kind.
pub(super) struct Shards {
    store: Arc<SharedStore>,
    kind: &'static str,
    /// Maximum number of ids in a partition.
    most: u32,
}

/// New id with its records.
pub(super) struct NewEntry<'a> {
    pub(super) shard: u8,
    pub(super) id: &'a str,
    /// Name in the index: the id, or a text and the id with a slash in between.
    pub(super) name: &'a str,
    pub(super) order: u64,
    pub(super) records: Vec<(String, Vec<u8>)>,
    pub(super) ttl: Duration,
}

/// Result of adding an entry.
pub(super) enum Added {
    /// The entry was added, after this number of evictions.
    Good(u64),
    /// No other entry may be evicted, or other new entries have taken each place that an eviction had freed.
    Full,
}

impl Shards {
    pub(super) fn new(store: Arc<SharedStore>, kind: &'static str, most: u32) -> Self {
        Self { store, kind, most }
    }

    pub(super) fn partition(&self, shard: u8) -> String {
        format!("authorization:{}:{}", self.kind, shard % SHARDS)
    }

    /// Adds an entry. If the partition is full, `victim` chooses the entry to evict among the first `listed` entries of the partition,
    /// sorted by their order.
    pub(super) async fn add(
        &self,
        entry: &NewEntry<'_>,
        listed: usize,
        victim: impl Fn(&[IndexEntry]) -> Option<usize>,
    ) -> Result<Added, OAuthError> {
        let partition = self.partition(entry.shard);
        for evicted in 0..=EVICTIONS as u64 {
            match self.store.run(self.insertion(entry)).await? {
                Ok(_) => return Ok(Added::Good(evicted)),
                // No attempt would follow another eviction.
                Err(Rejection::NoPlace(_)) if evicted == EVICTIONS as u64 => break,
                Err(Rejection::NoPlace(_)) => {}
                Err(_) => return Err(OAuthError::store_unavailable()),
            }
            let list = Transaction::on(&*partition).then(StoreOperation::list(ALL, None, listed));
            let entries = match self.store.apply(list).await?.pop() {
                Some(Output::Entries(entries)) => entries,
                _ => Vec::new(),
            };
            let Some(first) = victim(&entries).and_then(|at| entries.get(at)) else {
                return Ok(Added::Full);
            };
            self.remove(entry.shard, &first.name).await?;
        }
        Ok(Added::Full)
    }

    /// Returns the transaction that adds an entry.
    fn insertion(&self, entry: &NewEntry<'_>) -> Transaction {
        let NewEntry { shard, id, name, order, records, ttl } = entry;
        let enter = StoreOperation::Enter {
            places: ALL.to_owned(),
            holder: (*id).to_owned(),
            most: self.most,
            lease: *ttl,
        };
        let entered = Transaction::on(self.partition(*shard))
            .then(enter)
            .then(StoreOperation::enlist(ALL, *name, *order, *ttl));
        records.iter().fold(entered, |all, (name, value)| {
            all.then(StoreOperation::put(&**name, value.clone(), *ttl, Condition::Any))
        })
    }

    /// Removes an entry by its name in the index. Returns whether the entry was there. Of several concurrent calls, only one returns
    /// `true`.
    pub(super) async fn remove(&self, shard: u8, name: &str) -> Result<bool, OAuthError> {
        let id = name.rsplit('/').next().unwrap_or(name);
        let remove = Transaction::on(self.partition(shard))
            .then(StoreOperation::get(id))
            .then(StoreOperation::remove(id, Condition::Any))
            .then(StoreOperation::remove(format!("{id}{STATE}"), Condition::Any))
            .then(StoreOperation::delist(ALL, name))
            .then(StoreOperation::Leave { places: ALL.to_owned(), holder: id.to_owned() });
        let outputs = self.store.apply(remove).await?;
        Ok(matches!(outputs.first(), Some(Output::Record(Some(_)))))
    }

    /// Returns the operations that begin the lifetime of an entry again.
    pub(super) fn renewal(
        &self,
        id: &str,
        name: &str,
        order: u64,
        ttl: Duration,
    ) -> Vec<StoreOperation> {
        let enter = StoreOperation::Enter {
            places: ALL.to_owned(),
            holder: id.to_owned(),
            // The holder has its place already, unless it was evicted just now.
            most: u32::MAX,
            lease: ttl,
        };
        vec![enter, StoreOperation::enlist(ALL, name, order, ttl)]
    }
}

#[cfg(test)]
mod tests {
    use mcp_runtime::store::MemoryStore;

    use super::*;

    #[tokio::test]
    async fn an_entry_for_which_evictions_make_no_room_evicts_no_more_than_it_tries() {
        let store = Arc::new(SharedStore::new(Arc::new(MemoryStore::new())));
        let hour = Duration::from_secs(3600);
        // There is no place for a new entry, as if other nodes took each place that is freed.
        let shards = Shards::new(store.clone(), "test", 0);
        for (order, id) in ["a", "b", "c", "d", "e", "f"].into_iter().enumerate() {
            let add = Transaction::on(shards.partition(0));
            let renewal = shards.renewal(id, id, order as u64, hour);
            store.apply(renewal.into_iter().fold(add, Transaction::then)).await.unwrap();
        }
        let (id, records) = ("new", Vec::new());
        let entry = NewEntry { shard: 0, id, name: id, order: 9, records, ttl: hour };
        assert!(matches!(shards.add(&entry, 10, |_| Some(0)).await, Ok(Added::Full)));
        let list = Transaction::on(shards.partition(0)).then(StoreOperation::list(ALL, None, 10));
        let left = store.apply(list).await.unwrap().pop();
        let Some(Output::Entries(left)) = left else { panic!("{left:?}") };
        let names: Vec<_> = left.iter().map(|entry| &*entry.name).collect();
        assert_eq!(names, ["d", "e", "f"]);
    }
}
