//! Behaviour that the stores of this crate guarantee, but that the trait `Store` does not require.

use std::time::Duration;

use crate::support::eventually;
use mcp_runtime::{
    store::{Condition, MemoryStore, Output, Store, StoreOperation, Transaction},
    testing::store_suite,
};

store_suite!(memory, MemoryStore::new());
store_suite!(shared_memory, MemoryStore::new().shared());

#[cfg(feature = "sqlite")]
store_suite!(sqlite, files::temporary(1 << 30));

/// Time to live of what must not expire during a test.
const LONG: Duration = Duration::from_secs(600);

fn put(name: &str, value: &[u8]) -> Transaction {
    Transaction::on("p").then(StoreOperation::put(name, value, LONG, Condition::Any))
}

async fn value(store: &dyn Store, name: &str) -> Option<Vec<u8>> {
    let read = Transaction::on("p").then(StoreOperation::get(name));
    let mut results = store.execute(vec![read]).await.unwrap();
    match results.remove(0).unwrap().remove(0) {
        Output::Record(record) => record.map(|record| record.value),
        other => panic!("a record, not {other:?}"),
    }
}

async fn check_full(store: &dyn Store, transactions: Vec<Transaction>) {
    let error = store.execute(transactions).await.unwrap_err();
    assert!(error.is_full() && !error.is_unavailable(), "{error}");
}

/// A store for at most 2,000,000 bytes rejects what does not fit, and has room again once something is removed or expires.
async fn check_limit(store: &dyn Store) {
    let large = vec![7; 700_000];
    for name in ["a", "b"] {
        store.execute(vec![put(name, &large)]).await.unwrap();
    }
    check_full(store, vec![put("small", b"1"), put("c", &large)]).await;
    assert_eq!(value(store, "small").await, None, "nothing was applied");
    assert_eq!(value(store, "c").await, None);
    store.execute(vec![put("small", b"1")]).await.unwrap();
    let remove = Transaction::on("p").then(StoreOperation::remove("a", Condition::Any));
    store.execute(vec![remove]).await.unwrap();
    let short = StoreOperation::put("c", large.clone(), Duration::from_millis(20), Condition::Any);
    store.execute(vec![Transaction::on("p").then(short)]).await.unwrap();
    // An entry that has expired makes room.
    let fits = async || store.execute(vec![put("d", &large)]).await.is_ok();
    eventually("room for another entry", fits).await;
    assert_eq!(value(store, "c").await, None);
    assert_eq!(value(store, "b").await, Some(large));
}

#[tokio::test]
async fn a_full_store_in_memory_rejects_until_something_is_gone() {
    check_limit(&MemoryStore::new().bytes(2_000_000)).await;
}

#[cfg(feature = "sqlite")]
#[tokio::test]
async fn a_full_store_in_a_file_rejects_until_something_is_gone() {
    check_limit(&files::temporary(2_000_000)).await;
}

#[cfg(feature = "sqlite")]
mod files {
    use std::{
        env, fs,
        path::PathBuf,
        process,
        sync::atomic::{AtomicUsize, Ordering},
    };

    use mcp_runtime::store::{Follower, SqliteStore, StoreFuture, TransactionResult};
    use proptest::prelude::*;

    use super::*;

    /// Store in a folder of its own, which is deleted when the test ends.
    pub(super) struct Temporary {
        store: SqliteStore,
        folder: PathBuf,
    }

    pub(super) fn temporary(bytes: u64) -> Temporary {
        static FOLDERS: AtomicUsize = AtomicUsize::new(0);
        let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
        let folder = env::temp_dir().join(format!("mcp-stores-{}-{number}", process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let store = SqliteStore::new(folder.join("store.db")).bytes(bytes);
        Temporary { store, folder }
    }

    impl Drop for Temporary {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.folder);
        }
    }

    impl Store for Temporary {
        fn open(&self) -> StoreFuture<'_, ()> {
            self.store.open()
        }

        fn execute(
            &self,
            transactions: Vec<Transaction>,
        ) -> StoreFuture<'_, Vec<TransactionResult>> {
            self.store.execute(transactions)
        }

        fn follow(&self, partition: &str, log: &str, after: u64) -> Box<dyn Follower> {
            self.store.follow(partition, log, after)
        }
    }

    fn name() -> impl Strategy<Value = String> {
        (0..3_u8).prop_map(|name| format!("n{name}"))
    }

    fn condition() -> impl Strategy<Value = Condition> {
        prop_oneof![
            4 => Just(Condition::Any),
            1 => Just(Condition::Absent),
            1 => (1..12_u64).prop_map(Condition::Version),
        ]
    }

    fn operation() -> impl Strategy<Value = StoreOperation> {
        let value = || proptest::collection::vec(any::<u8>(), 0..4);
        let places =
            |places, holder, most| StoreOperation::Enter { places, holder, most, lease: LONG };
        prop_oneof![
            name().prop_map(StoreOperation::get),
            (name(), value(), condition()).prop_map(
                |(name, value, condition)| StoreOperation::put(name, value, LONG, condition)
            ),
            (name(), condition())
                .prop_map(|(name, condition)| StoreOperation::remove(name, condition)),
            (name(), value(), 1..4_usize)
                .prop_map(|(log, value, most)| StoreOperation::append(log, value, LONG, most)),
            (name(), 0..6_u64, 0..4_usize)
                .prop_map(|(log, after, most)| StoreOperation::read(log, after, most)),
            name().prop_map(|log| StoreOperation::Clear { log }),
            (name(), name(), 0..3_u64)
                .prop_map(|(index, name, order)| StoreOperation::enlist(index, name, order, LONG)),
            (name(), name()).prop_map(|(index, name)| StoreOperation::delist(index, name)),
            (name(), proptest::option::of((0..3_u64, name())), 0..4_usize)
                .prop_map(|(index, after, most)| StoreOperation::list(index, after, most)),
            name().prop_map(|rate| StoreOperation::Pass { rate, interval: LONG, slack: 2 * LONG }),
            (name(), name(), 0..3_u32)
                .prop_map(move |(name, holder, most)| places(name, holder, most)),
            (name(), name()).prop_map(|(places, holder)| StoreOperation::Leave { places, holder }),
            name().prop_map(StoreOperation::count),
        ]
    }

    fn transaction() -> impl Strategy<Value = Transaction> {
        (0..2_u8, proptest::collection::vec(operation(), 1..5)).prop_map(
            |(partition, operations)| Transaction {
                partition: format!("p{partition}"),
                operations,
            },
        )
    }

    /// Removes the times from results, which differ between two stores.
    fn timeless(results: &[TransactionResult]) -> Vec<String> {
        let shown = results.iter().map(|result| format!("{result:?}"));
        shown.map(|text| text.split("Wait(").next().unwrap_or_default().to_owned()).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn both_stores_do_the_same(
            calls in proptest::collection::vec(proptest::collection::vec(transaction(), 1..4), 1..25),
        ) {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
            runtime.block_on(async {
                let (memory, sqlite) = (MemoryStore::new(), temporary(1 << 30));
                for transactions in calls {
                    let expected = memory.execute(transactions.clone()).await.unwrap();
                    let found = sqlite.execute(transactions.clone()).await.unwrap();
                    prop_assert_eq!(timeless(&found), timeless(&expected), "{:?}", transactions);
                }
                Ok(())
            })?;
        }
    }
}
