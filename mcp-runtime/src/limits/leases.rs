//! Leases of this node on places that it shares with other nodes. A single tokio task renews all leases, and gives places back in batches.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    sync::{Notify, oneshot},
    time::{Instant, sleep_until, timeout_at},
};

use crate::storage::{self, Store, StoreError, StoreOperation, Transaction, TransactionResult};

/// Time after which a place is free again if its node no longer renews the lease.
pub(super) const LEASE: Duration = Duration::from_secs(30);

/// Time between two renewals. Two renewals may fail before a lease ends.
const RENEWAL: Duration = Duration::from_secs(10);

/// Time between two attempts to give places back while the store fails.
const RETRY: Duration = Duration::from_secs(1);

/// Maximum number of transactions in one call of the store.
const BATCH: usize = 256;

/// Maximum number of places that wait to be given back while the store fails. The leases of further places expire by themselves.
const MOST_LATE: usize = 4096;

/// Name of the places of an item, in the partition of the item.
pub(super) const PLACES: &str = "calls";

/// Leases of this node.
pub(super) struct Leases {
    store: Arc<dyn Store>,
    /// Random name of this node. The names of its holders begin with it.
    node: Box<str>,
    state: Mutex<LeaseState>,
    /// Wakes the worker.
    wake: Notify,
    /// Wakes [`settle`](Self::settle) after each attempt to give places back.
    attempted: Notify,
}

#[derive(Default)]
struct LeaseState {
    /// Number of the last place that was requested.
    last: u64,
    held: HashMap<u64, Lease>,
    /// Places that are no longer needed, but not given back yet.
    leaving: Vec<(u64, Lease)>,
    /// Whether the worker waits until the store has taken back places, which are not in `leaving` any more.
    is_giving_back: bool,
    /// Whether there is a [`Worker`], which ends when no place is held.
    is_working: bool,
    /// Whether a place was taken without waiting for the store. A renewal then tells the store of the place.
    is_renewal_due: bool,
    /// Whether the last attempt to give places back has failed. Calls then do not wait for further attempts.
    is_failing: bool,
}

struct Lease {
    /// Partition of the item.
    partition: Arc<str>,
    /// Whether the store has confirmed the place, so that the lease has to be renewed.
    is_taken: bool,
    /// Dropped when the place has been given back.
    left: Option<oneshot::Sender<()>>,
}

/// Place of a call. Dropping the value gives the place back.
pub(crate) struct SharedPlace {
    leases: Arc<Leases>,
    number: u64,
}

/// Lets a call wait until its place has been given back.
pub(crate) struct PlaceEnd {
    leases: Arc<Leases>,
    number: u64,
    left: oneshot::Receiver<()>,
}

impl Leases {
    pub(super) fn new(store: Arc<dyn Store>, node: Box<str>) -> Arc<Self> {
        let (wake, attempted) = (Notify::new(), Notify::new());
        Arc::new(Self { store, node, state: Mutex::default(), wake, attempted })
    }

    fn state(&self) -> MutexGuard<'_, LeaseState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Executes transactions.
    ///
    /// # Errors
    /// Fails if the store fails, or does not answer in time. The transactions may have been applied.
    pub(super) async fn execute(
        &self,
        transactions: Vec<Transaction>,
    ) -> Result<Vec<TransactionResult>, StoreError> {
        storage::execute(&*self.store, transactions).await
    }

    fn holder(&self, number: u64) -> String {
        format!("{}:{number}", self.node)
    }

    /// Creates a place that the store has not confirmed yet. The place is given back even if the call ends before the store has answered,
    /// because the store may have applied the transaction.
    pub(super) fn request(self: &Arc<Self>, partition: Arc<str>) -> (SharedPlace, PlaceEnd) {
        let (sender, left) = oneshot::channel();
        let mut state = self.state();
        state.last += 1;
        let number = state.last;
        state.held.insert(number, Lease { partition, is_taken: false, left: Some(sender) });
        if !std::mem::replace(&mut state.is_working, true) {
            let worker = Worker { leases: self.clone(), rests: false };
            drop(tokio::spawn(worker.work()));
        }
        drop(state);
        let place = SharedPlace { leases: self.clone(), number };
        (place, PlaceEnd { leases: self.clone(), number, left })
    }

    /// Returns the places that are no longer needed, at most one batch.
    fn leaving(&self) -> Vec<(u64, Lease)> {
        let mut state = self.state();
        let count = state.leaving.len().min(BATCH);
        state.is_giving_back = count > 0;
        state.leaving.drain(..count).collect()
    }

    /// Gives places back. Returns whether the store has confirmed this.
    async fn give_back(&self, mut leaving: Vec<(u64, Lease)>) -> bool {
        let leave = |(number, lease): &(u64, Lease)| {
            let holder = self.holder(*number);
            Transaction::on(&*lease.partition)
                .then(StoreOperation::Leave { places: PLACES.to_owned(), holder })
        };
        let given_back = self.execute(leaving.iter().map(leave).collect()).await;
        let mut state = self.state();
        state.is_giving_back = false;
        state.is_failing = given_back.is_err();
        if let Err(why) = given_back {
            tracing::debug!("the store cannot free places now: {why}");
            // The calls do not wait for the next attempt.
            leaving.iter_mut().for_each(|(_, lease)| lease.left = None);
            state.leaving.iter_mut().for_each(|(_, lease)| lease.left = None);
            let free = MOST_LATE.saturating_sub(state.leaving.len());
            state.leaving.extend(leaving.into_iter().take(free));
        }
        let is_done = !state.is_failing;
        drop(state);
        self.attempted.notify_waiters();
        is_done
    }

    /// Renews the leases of all places. A place that is in use counts even if its lease has ended meanwhile and all places are taken.
    async fn renew(&self) {
        let held: Vec<_> = {
            let state = self.state();
            let taken = state.held.iter().filter(|(_, lease)| lease.is_taken);
            taken.map(|(number, lease)| (*number, lease.partition.clone())).collect()
        };
        for batch in held.chunks(BATCH) {
            let renewal = |(number, partition): &(u64, Arc<str>)| {
                Transaction::on(&**partition).then(self.enter(*number, u32::MAX))
            };
            if let Err(why) = self.execute(batch.iter().map(renewal).collect()).await {
                tracing::warn!("the store cannot renew the places of running calls: {why}");
                return;
            }
        }
    }

    fn enter(&self, number: u64, most: u32) -> StoreOperation {
        let (places, holder) = (PLACES.to_owned(), self.holder(number));
        StoreOperation::Enter { places, holder, most, lease: LEASE }
    }

    /// Waits until all places that are no longer needed have been given back, or until an attempt to give them back has failed.
    pub(super) async fn settle(&self) {
        loop {
            let attempted = self.attempted.notified();
            tokio::pin!(attempted);
            // Registers before the state is checked, so that no attempt between the check and the wait is missed.
            attempted.as_mut().enable();
            {
                let state = self.state();
                let is_settled =
                    state.leaving.is_empty() && !state.is_giving_back && !state.held.is_empty();
                if is_settled || !state.is_working || state.is_failing {
                    return;
                }
            }
            attempted.await;
        }
    }
}

impl SharedPlace {
    /// Returns the operation that takes the place, if fewer than `most` are taken.
    pub(super) fn enter(&self, most: u32) -> StoreOperation {
        self.leases.enter(self.number, most)
    }

    /// Marks the place as taken. From now on its lease is renewed.
    pub(super) fn set_taken(&self) {
        if let Some(lease) = self.leases.state().held.get_mut(&self.number) {
            lease.is_taken = true;
        }
    }

    /// Drops the place without giving it back, because the store has not applied the transaction.
    pub(super) fn forget(self) {
        self.leases.state().held.remove(&self.number);
    }

    /// Takes the place without a limit and without waiting for the store.
    pub(super) fn take_anyway(&self) {
        self.set_taken();
        self.leases.state().is_renewal_due = true;
        self.leases.wake.notify_one();
    }
}

impl Drop for SharedPlace {
    fn drop(&mut self) {
        let mut state = self.leases.state();
        let Some(mut lease) = state.held.remove(&self.number) else { return };
        if state.is_failing || !state.is_working {
            lease.left = None;
        }
        if state.leaving.len() < MOST_LATE || !state.is_failing {
            state.leaving.push((self.number, lease));
        }
        drop(state);
        self.leases.wake.notify_one();
    }
}

impl PlaceEnd {
    /// Waits until the store knows that the place is free, so that the client can call again as soon as it has the answer. Does not wait if
    /// a task or a thread continues the call and keeps the place, or if the store fails.
    pub(crate) async fn wait(self) {
        let is_held = self.leases.state().held.contains_key(&self.number);
        if !is_held {
            let _ = self.left.await;
        }
    }
}

/// Tokio task of a node that renews leases and gives places back. It runs while the node holds a place.
struct Worker {
    leases: Arc<Leases>,
    /// Whether the worker has ended because there was nothing left to do. Another worker may run by now.
    rests: bool,
}

impl Worker {
    async fn work(mut self) {
        let leases = self.leases.clone();
        let mut renewal = Instant::now() + RENEWAL;
        while !self.rests {
            let is_due = std::mem::take(&mut leases.state().is_renewal_due);
            if is_due || renewal <= Instant::now() {
                leases.renew().await;
                renewal = Instant::now() + RENEWAL;
            }
            let leaving = leases.leaving();
            if leaving.is_empty() {
                self.rest();
                if !self.rests {
                    let _ = timeout_at(renewal, leases.wake.notified()).await;
                }
            } else if !leases.give_back(leaving).await {
                sleep_until(renewal.min(Instant::now() + RETRY)).await;
            }
        }
    }

    /// Ends the work if there is nothing left to do.
    fn rest(&mut self) {
        let mut state = self.leases.state();
        self.rests = state.held.is_empty() && state.leaving.is_empty();
        state.is_working = !self.rests;
        drop(state);
        if self.rests {
            self.leases.attempted.notify_waiters();
        }
    }
}

impl Drop for Worker {
    /// Lets the next place start another worker, if this worker ends because its runtime has ended.
    fn drop(&mut self) {
        if !self.rests {
            let mut state = self.leases.state();
            (state.is_working, state.is_giving_back) = (false, false);
            state.leaving.iter_mut().for_each(|(_, lease)| lease.left = None);
            drop(state);
            self.leases.attempted.notify_waiters();
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::runtime::{Builder, Runtime};

    use super::*;
    use crate::{
        storage::{Follower, MemoryStore, StoreFuture},
        testing::{FaultyStore, StoreFault},
    };

    fn runtime() -> Runtime {
        Builder::new_current_thread().enable_time().start_paused(true).build().unwrap()
    }

    /// Tries to take one of `most` places. Returns `None` if no place is free.
    async fn take(leases: &Arc<Leases>, most: u32) -> Option<SharedPlace> {
        let (place, _) = leases.request("item".into());
        let enter = Transaction::on("item").then(place.enter(most));
        match leases.execute(vec![enter]).await {
            Ok(results) if results[0].is_err() => {
                place.forget();
                None
            }
            _ => {
                place.set_taken();
                Some(place)
            }
        }
    }

    fn node(store: &Arc<MemoryStore>, name: &str) -> Arc<Leases> {
        Leases::new(store.clone(), name.into())
    }

    #[test]
    fn another_worker_takes_over_when_the_runtime_of_the_first_has_ended() {
        let store = Arc::new(MemoryStore::new().shared());
        let (one, other) = (node(&store, "one"), node(&store, "other"));
        let first = runtime();
        let place = first.block_on(take(&one, 1)).unwrap();
        let end = {
            let (unused, end) = first.block_on(async { one.request("item".into()) });
            drop(first);
            drop(unused);
            end
        };
        drop(place);
        runtime().block_on(async {
            // The call does not wait for a worker that is gone.
            end.wait().await;
            assert!(take(&other, 1).await.is_none(), "the place is not given back yet");
            let next = take(&one, 2).await.unwrap();
            one.settle().await;
            assert!(take(&other, 1).await.is_none() && take(&other, 2).await.is_some());
            drop(next);
        });
    }

    #[test]
    fn the_worker_ends_with_the_last_place_and_begins_with_the_next() {
        let store = Arc::new(MemoryStore::new().shared());
        let (one, other) = (node(&store, "one"), node(&store, "other"));
        runtime().block_on(async {
            for _ in 0..3 {
                let (first, second) = (take(&one, 2).await.unwrap(), take(&one, 2).await.unwrap());
                sleep_until(Instant::now() + 4 * LEASE).await;
                assert!(take(&other, 2).await.is_none());
                drop((first, second));
                one.settle().await;
                assert!(!one.state().is_working);
                assert_eq!(Arc::strong_count(&one), 1);
            }
        });
    }

    #[test]
    fn a_node_that_holds_places_settles_only_when_the_places_on_their_way_are_given_back() {
        let memory = Arc::new(MemoryStore::new().shared());
        let slow = FaultyStore::new(memory.clone());
        let one = Leases::new(Arc::new(slow.clone()), "one".into());
        let other = node(&memory, "other");
        runtime().block_on(async {
            let (kept, left) = (take(&one, 2).await.unwrap(), take(&one, 2).await.unwrap());
            slow.fault_at(slow.requests(), StoreFault::Delays(Duration::from_secs(1)));
            drop(left);
            while !one.state().leaving.is_empty() {
                tokio::task::yield_now().await;
            }
            assert!(take(&other, 2).await.is_none(), "the place is not given back yet");
            one.settle().await;
            assert!(take(&other, 2).await.is_some());
            drop(kept);
        });
    }

    /// Store that fails.
    struct Broken;

    impl Store for Broken {
        fn execute(&self, _: Vec<Transaction>) -> StoreFuture<'_, Vec<TransactionResult>> {
            Box::pin(async { Err(StoreError::unavailable("broken")) })
        }

        fn follow(&self, _: &str, _: &str, _: u64) -> Box<dyn Follower> {
            unreachable!("leases follow no log")
        }
    }

    #[test]
    fn places_that_a_broken_store_does_not_take_back_are_bounded_in_number() {
        let leases = Leases::new(Arc::new(Broken), "node".into());
        runtime().block_on(async {
            for _ in 0..100 {
                let (places, ends): (Vec<_>, Vec<_>) =
                    (0..100).map(|_| leases.request("item".into())).unzip();
                drop(places);
                // No call waits for ever.
                for end in ends {
                    end.wait().await;
                }
            }
            leases.settle().await;
            let state = leases.state();
            assert!(state.held.is_empty() && state.is_failing);
            assert!((1000..=MOST_LATE + BATCH).contains(&state.leaving.len()));
        });
    }

    #[test]
    fn a_call_that_is_admitted_anyway_counts_at_once_and_beyond_the_limit() {
        let store = Arc::new(MemoryStore::new().shared());
        let (one, other) = (node(&store, "one"), node(&store, "other"));
        runtime().block_on(async {
            let place = take(&one, 1).await.unwrap();
            let (again, _) = one.request("item".into());
            again.take_anyway();
            sleep_until(Instant::now() + Duration::from_millis(1)).await;
            drop(place);
            one.settle().await;
            assert!(take(&other, 1).await.is_none() && take(&other, 2).await.is_some());
        });
    }
}
