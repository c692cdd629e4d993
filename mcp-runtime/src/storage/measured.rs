//! Shared store with counters of its transactions. It also knows whether the store is available.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use tokio::time::Instant;

use super::{
    interface::{Follower, Store, StoreError, StoreFuture, execute},
    transaction::{StoreOperation, Transaction, TransactionResult},
};

/// Time for which requests must fail before the store counts as unavailable. A single short failure is therefore not enough.
const AWAY: Duration = Duration::from_secs(1);

/// Minimum time between two log lines about a store that is unavailable.
const QUIET: Duration = Duration::from_secs(10);

/// Counters of a shared store. The server and its [`MeasuredStore`] share them.
#[derive(Debug, Default)]
pub(crate) struct StoreCounters {
    requests: AtomicU64,
    transactions: AtomicU64,
    failed: AtomicU64,
    total_micros: AtomicU64,
    longest_micros: AtomicU64,
    /// Whether requests have failed for a while because the store was unavailable, or had no space.
    is_away: AtomicBool,
    outages: Mutex<Outages>,
    /// Time of the last log line about a store that is unavailable.
    logged: Mutex<Option<Instant>>,
    /// Whether the last log line says that the store is unavailable.
    has_logged: AtomicBool,
}

/// Outages of all requests to a store, and of those that need space. A store that is full still answers reads.
#[derive(Debug, Default)]
struct Outages {
    all: Outage,
    writes: Outage,
}

#[derive(Debug, Default)]
struct Outage {
    /// Time of the last request that succeeded.
    succeeded: Option<Instant>,
    /// Time from which requests have failed.
    since: Option<Instant>,
}

impl Outage {
    /// Records the result of a request that has just ended.
    fn add(&mut self, begin: Instant, has_succeeded: bool) {
        if has_succeeded {
            *self = Self { succeeded: Some(Instant::now()), since: None };
        } else {
            let since = self.succeeded.map_or(begin, |succeeded| succeeded.max(begin));
            self.since.get_or_insert(since);
        }
    }

    /// Returns whether requests have failed for long enough to count the store as unavailable.
    fn is_long(&self) -> bool {
        self.since.is_some_and(|since| since.elapsed() >= AWAY)
    }
}

/// Returns whether a store without free space is sure to fail these transactions. Other operations may free the space that they need.
fn need_space(transactions: &[Transaction]) -> bool {
    use StoreOperation::{Append, Put};

    let mut operations = transactions.iter().flat_map(|each| &each.operations).peekable();
    operations.peek().is_some()
        && operations.all(|operation| matches!(operation, Append { .. } | Put { .. }))
}

impl StoreCounters {
    pub(crate) fn is_away(&self) -> bool {
        self.is_away.load(Relaxed)
    }

    pub(crate) fn stats(&self) -> StoreStats {
        StoreStats {
            requests: self.requests.load(Relaxed),
            transactions: self.transactions.load(Relaxed),
            failed: self.failed.load(Relaxed),
            total_time: Duration::from_micros(self.total_micros.load(Relaxed)),
            longest_time: Duration::from_micros(self.longest_micros.load(Relaxed)),
            is_available: !self.is_away(),
        }
    }

    fn count(
        &self,
        transactions: usize,
        need_space: bool,
        begin: Instant,
        failure: Option<&StoreError>,
    ) {
        let micros = u64::try_from(begin.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.requests.fetch_add(1, Relaxed);
        self.transactions.fetch_add(transactions as u64, Relaxed);
        self.total_micros.fetch_add(micros, Relaxed);
        self.longest_micros.fetch_max(micros, Relaxed);
        if failure.is_some() {
            self.failed.fetch_add(1, Relaxed);
        }
        // A store that reports that its data are damaged is available.
        let outage = failure.filter(|why| why.is_unavailable() || why.is_full());
        let is_away = {
            let mut outages = self.outages.lock().unwrap_or_else(PoisonError::into_inner);
            outages.all.add(begin, !outage.is_some_and(StoreError::is_unavailable));
            if need_space || outage.is_some_and(StoreError::is_full) {
                outages.writes.add(begin, outage.is_none());
            }
            outages.all.is_long() || outages.writes.is_long()
        };
        self.is_away.store(is_away, Relaxed);
        if outage.is_some() || need_space && self.has_logged.load(Relaxed) {
            self.log(outage);
        }
    }

    /// Logs that the store is unavailable, at most once in ten seconds, and that it is available again.
    #[cold]
    fn log(&self, outage: Option<&StoreError>) {
        let mut logged = self.logged.lock().unwrap_or_else(PoisonError::into_inner);
        match outage {
            Some(why) if logged.is_none_or(|at| at.elapsed() >= QUIET) => {
                *logged = Some(Instant::now());
                self.has_logged.store(true, Relaxed);
                tracing::error!("the store that several servers share is not available: {why}");
            }
            None if self.has_logged.swap(false, Relaxed) => {
                tracing::info!("the store that several servers share is available again");
            }
            _ => {}
        }
    }
}

/// Store that counts the requests to another store, and waits for each of them no longer than [`execute`] does.
pub(crate) struct MeasuredStore {
    store: Arc<dyn Store>,
    counters: Arc<StoreCounters>,
}

impl MeasuredStore {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        Self { store, counters: Arc::default() }
    }

    pub(crate) fn counters(&self) -> &Arc<StoreCounters> {
        &self.counters
    }
}

impl Store for MeasuredStore {
    fn open(&self) -> StoreFuture<'_, ()> {
        self.store.open()
    }

    fn is_shared(&self) -> bool {
        self.store.is_shared()
    }

    fn execute(&self, transactions: Vec<Transaction>) -> StoreFuture<'_, Vec<TransactionResult>> {
        Box::pin(async move {
            let (begin, count) = (Instant::now(), transactions.len());
            let need_space = need_space(&transactions);
            let results = execute(&*self.store, transactions).await;
            self.counters.count(count, need_space, begin, results.as_ref().err());
            results
        })
    }

    fn follow(&self, partition: &str, log: &str, after: u64) -> Box<dyn Follower> {
        self.store.follow(partition, log, after)
    }
}

/// Counts of the requests to a store that several servers share.
///
/// [`Stats::store`](crate::limits::Stats::store) returns them. A request is one round trip with one or more transactions. Requests that
/// ended early, because their client has cancelled its call, and the reads of followers are not counted.
///
/// ```
/// use mcp_runtime::prelude::*;
///
/// /// Average time of a request to the shared store.
/// #[tool]
/// fn store_latency(server: Handle) -> String {
///     let stats = server.stats();
///     let Some(store) = stats.store() else { return "there is none".to_owned() };
///     let average = store.total_time().as_secs_f64() / store.requests().max(1) as f64;
///     format!("{:.1} ms, {} failed", 1000.0 * average, store.failed())
/// }
/// # fn main() {}
/// ```
#[derive(Clone, Debug)]
pub struct StoreStats {
    requests: u64,
    transactions: u64,
    failed: u64,
    total_time: Duration,
    longest_time: Duration,
    is_available: bool,
}

impl StoreStats {
    /// Returns the number of requests that have ended since the server started, also those that failed.
    pub fn requests(&self) -> u64 {
        self.requests
    }

    /// Returns the number of transactions in these requests.
    pub fn transactions(&self) -> u64 {
        self.transactions
    }

    /// Returns the number of requests that failed. A transaction that was rejected, for example by its condition, is no failure.
    pub fn failed(&self) -> u64 {
        self.failed
    }

    /// Returns the time that all requests together took.
    pub fn total_time(&self) -> Duration {
        self.total_time
    }

    /// Returns the time of the longest request since the server started.
    pub fn longest_time(&self) -> Duration {
        self.longest_time
    }

    /// Returns whether the store is available. It is not if all requests have failed for at least a second, the last one included, and not if
    /// all requests that write have. `/readyz` then answers with status 503.
    pub fn is_available(&self) -> bool {
        self.is_available
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::{MemoryStore, StoreOperation};

    /// Store that takes a second for each transaction, and fails if there is none.
    struct SlowStore(MemoryStore);

    impl Store for SlowStore {
        fn execute(
            &self,
            transactions: Vec<Transaction>,
        ) -> StoreFuture<'_, Vec<TransactionResult>> {
            Box::pin(async move {
                if transactions.is_empty() {
                    return Err(StoreError::unavailable("away"));
                }
                tokio::time::sleep(Duration::from_secs(transactions.len() as u64)).await;
                self.0.execute(transactions).await
            })
        }

        fn follow(&self, partition: &str, log: &str, after: u64) -> Box<dyn Follower> {
            self.0.follow(partition, log, after)
        }
    }

    #[tokio::test(start_paused = true)]
    async fn requests_transactions_times_and_failures_are_counted() {
        let store = MeasuredStore::new(Arc::new(SlowStore(MemoryStore::new())));
        let read = |count| vec![Transaction::on("p").then(StoreOperation::get("a")); count];
        for count in [1, 3] {
            assert!(store.execute(read(count)).await.is_ok());
        }
        let stats = store.counters().stats();
        assert_eq!((stats.requests(), stats.transactions(), stats.failed()), (2, 4, 0));
        let seconds = [stats.total_time(), stats.longest_time()].map(|time| time.as_secs());
        assert_eq!((seconds, stats.is_available()), ([4, 3], true));
        // A single late request is no outage.
        for (number, is_available) in [(1, true), (2, false)] {
            assert!(store.execute(Vec::new()).await.is_err());
            let stats = store.counters().stats();
            assert_eq!((stats.failed(), stats.is_available()), (number, is_available));
            tokio::time::advance(AWAY).await;
        }
        assert!(store.execute(read(1)).await.is_ok());
        assert!(store.counters().stats().is_available());
    }

    #[test]
    fn a_store_that_answers_reads_and_is_full_is_unavailable() {
        let counters = StoreCounters::default();
        let full = StoreError::full("the disk is full");
        let begin = Instant::now() - AWAY;
        counters.count(1, true, begin, Some(&full));
        counters.count(1, false, begin, None);
        assert!(!counters.stats().is_available());
        counters.count(1, true, begin, Some(&StoreError::failed("damaged")));
        assert!(counters.stats().is_available());
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_to_a_silent_store_fails_in_time_and_counts_as_failed() {
        let store = MeasuredStore::new(Arc::new(SlowStore(MemoryStore::new())));
        let begin = Instant::now();
        let hour = vec![Transaction::on("p").then(StoreOperation::get("a")); 3600];
        assert!(store.execute(hour).await.unwrap_err().is_unavailable());
        assert!(begin.elapsed() < Duration::from_secs(10));
        let stats = store.counters().stats();
        assert_eq!((stats.requests(), stats.failed(), stats.is_available()), (1, 1, false));
    }
}
