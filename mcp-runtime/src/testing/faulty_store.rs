//! Store that delays, fails or repeats a request, for tests of the answers that clients get meanwhile.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use crate::storage::{Follower, Store, StoreError, StoreFuture, Transaction, TransactionResult};

/// Fault of a [`FaultyStore`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoreFault {
    /// The store does not execute the request, which fails.
    FailsBefore,
    /// The store executes the request, but the answer is lost, so that the request fails.
    FailsAfter,
    /// The store executes the request twice, and answers with the results of the first time.
    Repeats,
    /// The store executes the request after this time of tokio's clock.
    Delays(Duration),
}

/// Store that wraps another store, and has a fault at the requests that a test chooses.
///
/// A server must not tell a client anything that its store does not hold yet. To test this, count the requests of a scenario without
/// faults. Then run the scenario once for each request and each fault. Clones share the count and the faults. Needs the feature
/// `store-suite`.
///
/// ```
/// use mcp_runtime::{
///     store::{Condition, MemoryStore, Store, StoreOperation, Transaction},
///     testing::{FaultyStore, StoreFault},
/// };
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let store = FaultyStore::new(MemoryStore::new());
/// store.fault_at(1, StoreFault::FailsAfter);
/// let hour = std::time::Duration::from_secs(3600);
/// let put = |name: &str| {
///     let put = StoreOperation::put(name, *b"value", hour, Condition::Any);
///     vec![Transaction::on("notes").then(put)]
/// };
/// assert!(store.execute(put("a")).await.is_ok());
/// assert!(store.execute(put("b")).await.unwrap_err().is_unavailable());
/// assert_eq!(store.requests(), 2);
/// # }
/// ```
#[derive(Debug)]
pub struct FaultyStore<S> {
    store: Arc<S>,
    plan: Arc<Mutex<FaultPlan>>,
}

#[derive(Debug, Default)]
struct FaultPlan {
    requests: usize,
    /// Faults, each with the number of its request.
    faults: Vec<(usize, StoreFault)>,
}

impl<S> Clone for FaultyStore<S> {
    fn clone(&self) -> Self {
        Self { store: self.store.clone(), plan: self.plan.clone() }
    }
}

impl<S: Store> FaultyStore<S> {
    /// Wraps a store, which may be an `Arc` that others use, too. There is no fault at first.
    pub fn new(store: S) -> Self {
        Self { store: Arc::new(store), plan: Arc::default() }
    }

    fn plan(&self) -> MutexGuard<'_, FaultPlan> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of requests so far. A request is a call of [`Store::execute`].
    pub fn requests(&self) -> usize {
        self.plan().requests
    }

    /// Adds a fault at the request with this number, counted from zero at the first request of the store.
    pub fn fault_at(&self, request: usize, fault: StoreFault) {
        self.plan().faults.push((request, fault));
    }

    /// Counts a request, and returns its fault.
    fn next_fault(&self) -> Option<StoreFault> {
        let mut plan = self.plan();
        let number = plan.requests;
        plan.requests += 1;
        plan.faults.iter().find(|(request, _)| *request == number).map(|(_, fault)| *fault)
    }
}

// The compile error for a value that is not a store must propose the stores for servers, and not this store for tests.
#[diagnostic::do_not_recommend]
impl<S: Store> Store for FaultyStore<S> {
    fn open(&self) -> StoreFuture<'_, ()> {
        self.store.open()
    }

    fn is_shared(&self) -> bool {
        self.store.is_shared()
    }

    fn execute(&self, transactions: Vec<Transaction>) -> StoreFuture<'_, Vec<TransactionResult>> {
        let fault = self.next_fault();
        let lost = || StoreError::unavailable("a fault of the test");
        Box::pin(async move {
            match fault {
                None => self.store.execute(transactions).await,
                Some(StoreFault::FailsBefore) => Err(lost()),
                Some(StoreFault::FailsAfter) => {
                    self.store.execute(transactions).await?;
                    Err(lost())
                }
                Some(StoreFault::Repeats) => {
                    let results = self.store.execute(transactions.clone()).await?;
                    self.store.execute(transactions).await?;
                    Ok(results)
                }
                Some(StoreFault::Delays(time)) => {
                    tokio::time::sleep(time).await;
                    self.store.execute(transactions).await
                }
            }
        })
    }

    fn follow(&self, partition: &str, log: &str, after: u64) -> Box<dyn Follower> {
        self.store.follow(partition, log, after)
    }
}
