//! Store in memory, the default of every server.

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    fmt,
    future::ready,
    ops::Bound,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{sync::Notify, time::Instant};

use super::{
    interface::{Follower, Store, StoreError, StoreFuture},
    transaction::{
        Condition, IndexEntry, LogEvent, Output, Record, Rejection, StoreOperation, Transaction,
        TransactionResult, size,
    },
};

/// Store in memory, which loses everything when the process ends.
///
/// It is the default of [`Builder::store`](crate::Builder::store). For tasks and logins that survive a restart, use `SqliteStore` (feature
/// `sqlite`). By default, the store holds at most 256 MiB. If it is full, the server rejects what would need more space.
///
/// ```
/// use mcp_runtime::store::MemoryStore;
///
/// let server = mcp_runtime::server!().store(MemoryStore::new().bytes(10 << 20));
/// ```
pub struct MemoryStore {
    shared: Arc<SharedTable>,
    most: usize,
    is_shared: bool,
}

/// Table of all partitions, which the followers of logs share with the store.
#[derive(Default)]
struct SharedTable {
    table: Mutex<Table>,
    /// Wakes the followers after each call of `execute`, which may have appended an event.
    appended: Notify,
}

impl SharedTable {
    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl MemoryStore {
    /// Creates a store for at most 256 MiB.
    pub fn new() -> Self {
        Self { shared: Arc::default(), most: 256 << 20, is_shared: false }
    }

    /// Sets the maximum size of everything in the store, in bytes. Names and a small overhead for each entry count too. Default: 256 MiB.
    #[must_use]
    pub fn bytes(mut self, most: usize) -> Self {
        self.most = most;
        self
    }

    /// Lets several servers of one process share the store, each with a clone of the same `Arc`. This is for tests of servers with several
    /// nodes.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use mcp_runtime::store::MemoryStore;
    ///
    /// let store = Arc::new(MemoryStore::new().shared());
    /// let nodes = [0, 1].map(|_| mcp_runtime::server!().store(store.clone()));
    /// # let _ = nodes;
    /// ```
    #[must_use]
    pub fn shared(mut self) -> Self {
        self.is_shared = true;
        self
    }

    fn run(&self, transactions: Vec<Transaction>) -> Result<Vec<TransactionResult>, StoreError> {
        let now = Instant::now();
        let mut table = self.shared.lock();
        let growth: usize = transactions.iter().map(|transaction| table.growth(transaction)).sum();
        if table.sweep_at.is_none_or(|at| at <= now)
            || table.bytes.saturating_add(growth) > self.most
        {
            table.sweep(now);
        }
        if growth > 0 && table.bytes.saturating_add(growth) > self.most {
            return Err(StoreError::full(format_args!(
                "the store in memory is full: it may hold {} bytes (`MemoryStore::bytes`)",
                self.most
            )));
        }
        let results = transactions.into_iter().map(|transaction| table.apply(transaction, now));
        let results = results.collect();
        drop(table);
        self.shared.appended.notify_waiters();
        Ok(results)
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

impl Store for MemoryStore {
    fn is_shared(&self) -> bool {
        self.is_shared
    }

    fn execute(&self, transactions: Vec<Transaction>) -> StoreFuture<'_, Vec<TransactionResult>> {
        Box::pin(ready(self.run(transactions)))
    }

    fn follow(&self, partition: &str, log: &str, after: u64) -> Box<dyn Follower> {
        Box::new(MemoryFollower {
            shared: self.shared.clone(),
            partition: partition.to_owned(),
            log: log.to_owned(),
            after,
        })
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore")
            .field("bytes", &self.shared.lock().bytes)
            .finish_non_exhaustive()
    }
}

/// Follower of a log in memory.
struct MemoryFollower {
    shared: Arc<SharedTable>,
    partition: String,
    log: String,
    after: u64,
}

impl MemoryFollower {
    fn take(&mut self) -> Option<LogEvent> {
        let table = self.shared.lock();
        let log = table.partitions.get(&self.partition)?.logs.get(&self.log)?;
        if !is_live(log.until, Instant::now()) {
            return None;
        }
        let next = log.events.partition_point(|event| event.id <= self.after);
        let event = log.events.get(next)?.clone();
        self.after = event.id;
        Some(event)
    }
}

impl Follower for MemoryFollower {
    fn next(&mut self) -> StoreFuture<'_, LogEvent> {
        Box::pin(async {
            let shared = self.shared.clone();
            loop {
                let appended = shared.appended.notified();
                tokio::pin!(appended);
                // Registers before the look, so that no event between the look and the wait is missed.
                appended.as_mut().enable();
                if let Some(event) = self.take() {
                    return Ok(event);
                }
                appended.await;
            }
        })
    }
}

/// Everything in the store.
#[derive(Default)]
struct Table {
    partitions: HashMap<String, Partition>,
    /// Size of everything, as [`Transaction::growth`] counts it.
    bytes: usize,
    /// Last version that was given to a record of any partition. Each event raises it too, so that it is at least as high as every id.
    version: u64,
    /// Time of the next search for expired entries.
    sweep_at: Option<Instant>,
}

#[derive(Default)]
struct Partition {
    records: HashMap<String, Stored<Record>>,
    logs: HashMap<String, Log>,
    indexes: HashMap<String, Index>,
    /// For each rate, the time at which its next use is due.
    rates: HashMap<String, Instant>,
    /// For each set of places, the holders with the ends of their leases.
    places: HashMap<String, HashMap<String, Option<Instant>>>,
}

/// Value with the time at which it expires. `None` if that time is too far away to be represented.
struct Stored<T> {
    value: T,
    until: Option<Instant>,
}

#[derive(Default)]
struct Log {
    /// Their ids are ascending.
    events: VecDeque<LogEvent>,
    /// Id of the last event that was appended.
    last: u64,
    until: Option<Instant>,
}

#[derive(Default)]
struct Index {
    entries: BTreeMap<(u64, String), Option<Instant>>,
    orders: HashMap<String, u64>,
}

impl Index {
    /// Removes an entry, and returns the time at which it would have expired.
    fn remove(&mut self, name: &str) -> Option<Option<Instant>> {
        let order = self.orders.remove(name)?;
        self.entries.remove(&(order, name.to_owned()))
    }
}

/// Time between two searches for expired entries.
const SWEEP: Duration = Duration::from_secs(30);

fn is_live(until: Option<Instant>, now: Instant) -> bool {
    until.is_none_or(|until| until > now)
}

impl Table {
    fn apply(&mut self, transaction: Transaction, now: Instant) -> TransactionResult {
        let Self { partitions, bytes, version, .. } = self;
        let partition = partitions.entry(transaction.partition).or_default();
        for (number, operation) in transaction.operations.iter().enumerate() {
            partition.check(number, operation, now)?;
        }
        let operations = transaction.operations.into_iter();
        Ok(operations.map(|operation| partition.apply(operation, now, bytes, version)).collect())
    }

    /// Returns an upper bound of the bytes by which a transaction lets the store grow. What a new record replaces does not count, so that a
    /// record can be replaced in a full store.
    fn growth(&self, transaction: &Transaction) -> usize {
        let partition = self.partitions.get(&transaction.partition);
        let replaced = |operation: &StoreOperation| match operation {
            StoreOperation::Put { name, .. } => {
                let stored = partition.and_then(|partition| partition.records.get(name));
                stored.map_or(0, |stored| size(name, stored.value.value.len()))
            }
            _ => 0,
        };
        let replaced: usize = transaction.operations.iter().map(replaced).sum();
        transaction.growth().saturating_sub(replaced)
    }

    /// Drops everything that has expired.
    fn sweep(&mut self, now: Instant) {
        self.sweep_at = Some(now + SWEEP);
        let mut bytes = 0;
        self.partitions.retain(|_, partition| {
            bytes += partition.sweep(now);
            !partition.is_empty()
        });
        self.bytes = bytes;
    }
}

impl Partition {
    fn record(&self, name: &str, now: Instant) -> Option<&Record> {
        let stored = self.records.get(name)?;
        is_live(stored.until, now).then_some(&stored.value)
    }

    /// Checks whether the operation with this number allows the transaction.
    fn check(
        &self,
        number: usize,
        operation: &StoreOperation,
        now: Instant,
    ) -> Result<(), Rejection> {
        match operation {
            StoreOperation::Put { name, condition, .. }
            | StoreOperation::Remove { name, condition } => {
                let version = self.record(name, now).map(|record| record.version);
                let holds = match condition {
                    Condition::Any => true,
                    Condition::Absent => version.is_none(),
                    Condition::Version(expected) => version == Some(*expected),
                };
                if holds { Ok(()) } else { Err(Rejection::Condition(number)) }
            }
            StoreOperation::Pass { rate, slack, .. } => {
                let ahead = self.rates.get(rate).map(|due| due.saturating_duration_since(now));
                match ahead
                    .and_then(|ahead| ahead.checked_sub(*slack))
                    .filter(|wait| !wait.is_zero())
                {
                    Some(wait) => Err(Rejection::Wait(number, wait)),
                    None => Ok(()),
                }
            }
            StoreOperation::Enter { places, holder, most, .. } => {
                let others = self.places.get(places).into_iter().flatten();
                let others =
                    others.filter(|(other, until)| *other != holder && is_live(**until, now));
                let is_free = others.count() < usize::try_from(*most).unwrap_or(usize::MAX);
                if is_free { Ok(()) } else { Err(Rejection::NoPlace(number)) }
            }
            _ => Ok(()),
        }
    }

    fn apply(
        &mut self,
        operation: StoreOperation,
        now: Instant,
        bytes: &mut usize,
        version: &mut u64,
    ) -> Output {
        match operation {
            StoreOperation::Get { name } => Output::Record(self.record(&name, now).cloned()),
            StoreOperation::Put { name, value, ttl, .. } => {
                self.remove(&name, bytes);
                *bytes += size(&name, value.len());
                *version += 1;
                let value = Record { value, version: *version };
                self.records.insert(name, Stored { value, until: now.checked_add(ttl) });
                Output::Version(*version)
            }
            StoreOperation::Touch { name, ttl } => {
                if let Some(stored) = self.records.get_mut(&name)
                    && is_live(stored.until, now)
                {
                    stored.until = now.checked_add(ttl);
                }
                Output::Done
            }
            StoreOperation::Remove { name, .. } => {
                self.remove(&name, bytes);
                Output::Done
            }
            StoreOperation::Append { log, value, ttl, most } => {
                *version += 1;
                let event = LogEvent { id: *version, value };
                self.append(log, event, most, now, now.checked_add(ttl), bytes)
            }
            StoreOperation::Read { log, after, most } => self.read(&log, after, most, now),
            StoreOperation::Clear { log } => {
                self.clear(&log, bytes);
                Output::Done
            }
            StoreOperation::Enlist { index, name, order, ttl } => {
                let index = self.indexes.entry(index).or_default();
                let mut until = now.checked_add(ttl);
                match index.remove(&name) {
                    None => *bytes += size(&name, name.len()),
                    // `None` is later than any time.
                    Some(before) => {
                        until = before.zip(until).map(|(before, until)| before.max(until))
                    }
                }
                index.orders.insert(name.clone(), order);
                index.entries.insert((order, name), until);
                Output::Done
            }
            StoreOperation::Delist { index, name } => {
                if self.indexes.get_mut(&index).and_then(|index| index.remove(&name)).is_some() {
                    *bytes = bytes.saturating_sub(size(&name, name.len()));
                }
                Output::Done
            }
            StoreOperation::List { index, after, most } => self.list(&index, after, most, now),
            StoreOperation::Pass { rate, interval, .. } => {
                if !self.rates.contains_key(&rate) {
                    *bytes += size(&rate, 0);
                }
                let due = self.rates.entry(rate).or_insert(now);
                *due = (*due).max(now).checked_add(interval).unwrap_or(*due);
                Output::Done
            }
            StoreOperation::Enter { places, holder, lease, .. } => {
                let added = size(&holder, 0);
                let holders = self.places.entry(places).or_default();
                if holders.insert(holder, now.checked_add(lease)).is_none() {
                    *bytes += added;
                }
                Output::Done
            }
            StoreOperation::Count { places } => {
                let holders = self.places.get(&places).into_iter().flatten();
                let taken = holders.filter(|(_, until)| is_live(**until, now)).count();
                Output::Count(taken as u64)
            }
            StoreOperation::Leave { places, holder } => {
                let holders = self.places.get_mut(&places);
                if holders.is_some_and(|holders| holders.remove(&holder).is_some()) {
                    *bytes = bytes.saturating_sub(size(&holder, 0));
                }
                Output::Done
            }
        }
    }

    fn remove(&mut self, name: &str, bytes: &mut usize) {
        if let Some(stored) = self.records.remove(name) {
            *bytes = bytes.saturating_sub(size(name, stored.value.value.len()));
        }
    }

    /// Appends an event to a log. If there is no log yet, the event keeps its id.
    fn append(
        &mut self,
        name: String,
        event: LogEvent,
        most: usize,
        now: Instant,
        until: Option<Instant>,
        bytes: &mut usize,
    ) -> Output {
        if self.logs.get(&name).is_some_and(|log| !is_live(log.until, now)) {
            self.clear(&name, bytes);
        }
        let each = size(&name, 0);
        let log = self.logs.entry(name).or_default();
        log.last = if log.last == 0 { event.id } else { log.last + 1 };
        log.until = until;
        *bytes += each + event.value.len();
        log.events.push_back(LogEvent { id: log.last, ..event });
        while log.events.len() > most.max(1) {
            let dropped = log.events.pop_front().map_or(0, |event| event.value.len());
            *bytes = bytes.saturating_sub(each + dropped);
        }
        Output::Appended(log.last)
    }

    fn read(&self, name: &str, after: u64, most: usize, now: Instant) -> Output {
        let Some(log) = self.logs.get(name).filter(|log| is_live(log.until, now)) else {
            return Output::Events { events: Vec::new(), last: 0 };
        };
        let from = log.events.partition_point(|event| event.id <= after);
        let events = log.events.range(from..).take(most).cloned().collect();
        Output::Events { events, last: log.last }
    }

    fn clear(&mut self, name: &str, bytes: &mut usize) {
        if let Some(log) = self.logs.remove(name) {
            let freed: usize = log.events.iter().map(|event| size(name, event.value.len())).sum();
            *bytes = bytes.saturating_sub(freed);
        }
    }

    fn list(&self, index: &str, after: Option<(u64, String)>, most: usize, now: Instant) -> Output {
        let Some(index) = self.indexes.get(index) else { return Output::Entries(Vec::new()) };
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let live =
            index.entries.range((from, Bound::Unbounded)).filter(|entry| is_live(*entry.1, now));
        let entry = |(order, name): &(u64, String)| IndexEntry {
            order: *order,
            name: name.clone(),
            record: self.record(name, now).cloned(),
        };
        Output::Entries(live.take(most).map(|found| entry(found.0)).collect())
    }

    /// Drops everything that has expired, and returns the size of the rest.
    fn sweep(&mut self, now: Instant) -> usize {
        let mut bytes = 0;
        self.records.retain(|name, stored| {
            let stays = is_live(stored.until, now);
            bytes += if stays { size(name, stored.value.value.len()) } else { 0 };
            stays
        });
        self.logs.retain(|name, log| {
            let stays = is_live(log.until, now);
            if stays {
                bytes +=
                    log.events.iter().map(|event| size(name, event.value.len())).sum::<usize>();
            }
            stays
        });
        self.indexes.retain(|_, index| {
            let Index { entries, orders } = index;
            entries.retain(|(_, name), until| {
                let stays = is_live(*until, now);
                if stays {
                    bytes += size(name, name.len());
                } else {
                    orders.remove(name);
                }
                stays
            });
            !entries.is_empty()
        });
        self.rates.retain(|name, due| {
            let stays = *due > now;
            bytes += if stays { size(name, 0) } else { 0 };
            stays
        });
        self.places.retain(|_, holders| {
            holders.retain(|holder, until| {
                let stays = is_live(*until, now);
                bytes += if stays { size(holder, 0) } else { 0 };
                stays
            });
            !holders.is_empty()
        });
        bytes
    }

    fn is_empty(&self) -> bool {
        let Self { records, logs, indexes, rates, places } = self;
        records.is_empty()
            && logs.is_empty()
            && indexes.is_empty()
            && rates.is_empty()
            && places.is_empty()
    }
}
