//! Logins of a server that `dev` has started. A change of the sources replaces the server, and its users stay logged in.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use mcp_runtime_dev::{KeptFile, Supervisor};
use serde::{Deserialize, Serialize};

use crate::{
    authorization::{LOGIN_PARTITION, SEAL_KEY},
    builder::Builder,
    storage::{
        Condition, Follower, MemoryStore, Store, StoreError, StoreFuture, StoreOperation,
        Transaction, TransactionResult,
    },
};

/// Gives the server a store that hands its logins on to the next server. A server that `dev` has not started, or that has a store, stays
/// unchanged. A store of the author does not get the key of `dev`: without `Upstream::seal_key`, logins at an upstream provider end with their server.
pub(super) fn keep_logins(builder: Builder) -> Builder {
    if builder.has_store() {
        return builder;
    }
    match Supervisor::find().and_then(|supervisor| supervisor.kept()) {
        Some(file) => builder.store(KeptStore::new(file)),
        None => builder,
    }
}

/// Store in memory that also writes the changes of logins to a file, which the next server reads. Tasks end with their server.
struct KeptStore {
    memory: MemoryStore,
    file: KeptFile,
}

/// Change of the logins, as it is written to the file. Times are in seconds since 1970.
#[derive(Deserialize, Serialize)]
enum KeptChange {
    Put { name: String, value: Vec<u8>, until: u64 },
    Remove { name: String },
    Enlist { index: String, name: String, order: u64, until: u64 },
    Delist { index: String, name: String },
}

impl KeptStore {
    fn new(file: KeptFile) -> Self {
        Self { memory: MemoryStore::new(), file }
    }

    /// Reads the changes of earlier servers from the file. The key that seals parts of the logins is only in memory, never in the file.
    async fn load(&self) -> Result<(), StoreError> {
        let failed = |error| StoreError::failed(format_args!("the logins cannot be read: {error}"));
        let now = now();
        let key = StoreOperation::put(SEAL_KEY, self.file.key(), Duration::MAX, Condition::Any);
        let mut logins = Transaction::on(LOGIN_PARTITION).then(key);
        for line in self.file.lines().map_err(failed)? {
            // A server that was killed may have left a part of a line.
            let changes: Vec<KeptChange> = serde_json::from_str(&line).unwrap_or_default();
            logins.operations.extend(changes.into_iter().map(|change| change.operation(now)));
        }
        self.memory.execute(vec![logins]).await.map(drop)
    }

    /// Appends the changes of an applied transaction to the file.
    fn keep(&self, changes: &[KeptChange]) -> Result<(), StoreError> {
        if changes.is_empty() {
            return Ok(());
        }
        let written = serde_json::to_string(changes).map_err(std::io::Error::from);
        written.and_then(|line| self.file.append(&line)).map_err(|error| {
            StoreError::failed(format_args!("the logins cannot be written: {error}"))
        })
    }
}

impl Store for KeptStore {
    fn open(&self) -> StoreFuture<'_, ()> {
        Box::pin(self.load())
    }

    fn execute(&self, transactions: Vec<Transaction>) -> StoreFuture<'_, Vec<TransactionResult>> {
        Box::pin(async move {
            let now = now();
            let changes: Vec<_> = transactions.iter().map(|each| changes(each, now)).collect();
            let results = self.memory.execute(transactions).await?;
            for (changes, result) in changes.iter().zip(&results) {
                if result.is_ok() {
                    self.keep(changes)?;
                }
            }
            Ok(results)
        })
    }

    fn follow(&self, partition: &str, log: &str, after: u64) -> Box<dyn Follower> {
        self.memory.follow(partition, log, after)
    }
}

/// Returns the changes of logins in a transaction.
fn changes(transaction: &Transaction, now: Duration) -> Vec<KeptChange> {
    let is_login = transaction.partition == LOGIN_PARTITION;
    let operations = transaction.operations.iter().filter(|_| is_login);
    let until = |ttl: &Duration| now.saturating_add(*ttl).as_secs();
    let change = |operation: &StoreOperation| {
        Some(match operation.clone() {
            StoreOperation::Put { name, value, ttl, .. } => {
                KeptChange::Put { name, value, until: until(&ttl) }
            }
            StoreOperation::Remove { name, .. } => KeptChange::Remove { name },
            StoreOperation::Enlist { index, name, order, ttl } => {
                KeptChange::Enlist { index, name, order, until: until(&ttl) }
            }
            StoreOperation::Delist { index, name } => KeptChange::Delist { index, name },
            // In a store that is not shared, the authorization server uses no other operations that change something.
            _ => return None,
        })
    };
    operations.filter_map(change).collect()
}

impl KeptChange {
    /// Returns the operation that repeats this change. An entry that has expired meanwhile expires at once.
    fn operation(self, now: Duration) -> StoreOperation {
        let ttl = |until: u64| Duration::from_secs(until).saturating_sub(now);
        match self {
            Self::Put { name, value, until } => {
                StoreOperation::put(name, value, ttl(until), Condition::Any)
            }
            Self::Remove { name } => StoreOperation::remove(name, Condition::Any),
            Self::Enlist { index, name, order, until } => {
                StoreOperation::enlist(index, name, order, ttl(until))
            }
            Self::Delist { index, name } => StoreOperation::delist(index, name),
        }
    }
}

/// Returns the time since 1970.
fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::Output;

    const LONG: Duration = Duration::from_secs(1000);

    fn put(partition: &str, name: &str, ttl: Duration) -> Transaction {
        let put = StoreOperation::put(name, *b"{}", ttl, Condition::Any);
        Transaction::on(partition).then(put).then(StoreOperation::enlist("all", name, 0, ttl))
    }

    /// Returns the names in the index of a partition.
    async fn names(store: &KeptStore, partition: &str) -> Vec<String> {
        let list = Transaction::on(partition).then(StoreOperation::list("all", None, 10));
        let results = store.execute(vec![list]).await.unwrap();
        match &results[0].as_ref().unwrap()[0] {
            Output::Entries(entries) => entries
                .iter()
                .filter(|entry| entry.record.is_some())
                .map(|entry| entry.name.clone())
                .collect(),
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test]
    async fn the_next_server_knows_the_logins_and_nothing_else() {
        let path = std::env::temp_dir().join(format!("mcp-kept-store-{}", std::process::id()));
        let store = || KeptStore::new(KeptFile::new(path.clone(), [9; 32]));
        let first = store();
        first.open().await.unwrap();
        for name in ["ada", "bob"] {
            first.execute(vec![put(LOGIN_PARTITION, name, LONG)]).await.unwrap();
        }
        let expired = put(LOGIN_PARTITION, "old", Duration::ZERO);
        first.execute(vec![expired, put("tasks", "task", LONG)]).await.unwrap();
        let end = Transaction::on(LOGIN_PARTITION)
            .then(StoreOperation::remove("bob", Condition::Any))
            .then(StoreOperation::delist("all", "bob"));
        first.execute(vec![end]).await.unwrap();
        // A rejected transaction changes nothing.
        let rejected = put(LOGIN_PARTITION, "eve", LONG).then(StoreOperation::put(
            "ada",
            *b"",
            LONG,
            Condition::Absent,
        ));
        assert!(first.execute(vec![rejected]).await.unwrap()[0].is_err());
        // A server that is killed leaves a part of a line, and another server goes on.
        let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
        std::io::Write::write_all(&mut file, b"[{\"Put\"").unwrap();
        first.execute(vec![put(LOGIN_PARTITION, "cyd", LONG)]).await.unwrap();
        let second = store();
        second.open().await.unwrap();
        assert_eq!(names(&second, LOGIN_PARTITION).await, ["ada", "cyd"]);
        let get = Transaction::on(LOGIN_PARTITION).then(StoreOperation::get(SEAL_KEY));
        let results = second.execute(vec![get]).await.unwrap();
        match &results[0].as_ref().unwrap()[0] {
            Output::Record(Some(key)) => assert_eq!(key.value, [9; 32]),
            other => panic!("{other:?}"),
        }
        assert_eq!(names(&second, "tasks").await, Vec::<String>::new());
        std::fs::remove_file(path).unwrap();
    }
}
