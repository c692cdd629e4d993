//! Transactions: the operations of a store, and their results.

use std::time::Duration;

/// Operations on one partition of a store, which the store applies together or not at all.
///
/// A partition is a group of names that belong together, such as everything that belongs to one session. A transaction cannot span several
/// partitions, so that a store may keep partitions on different machines.
///
/// The store checks the [`Condition`]s, rates and places of all operations first, against the state before the transaction. If one of them
/// does not hold, the store changes nothing. Otherwise, it applies the operations in their order, so that an operation sees the changes of
/// those before it.
///
/// ```
/// use std::time::Duration;
///
/// use mcp_runtime::store::{Condition, StoreOperation, Transaction};
///
/// let minute = Duration::from_secs(60);
/// let transaction = Transaction::on("session:5f2a")
///     .then(StoreOperation::put("client", *b"Ada", minute, Condition::Absent))
///     .then(StoreOperation::append("stream:0", *b"{}", minute, 256));
/// assert_eq!(transaction.operations.len(), 2);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a transaction does nothing until a store executes it"]
pub struct Transaction {
    /// Name of the partition. It may contain any characters.
    pub partition: String,
    /// Operations, in the order in which they are applied.
    pub operations: Vec<StoreOperation>,
}

impl Transaction {
    /// Creates a transaction without operations.
    pub fn on(partition: impl Into<String>) -> Self {
        Self { partition: partition.into(), operations: Vec::new() }
    }

    /// Adds an operation.
    pub fn then(mut self, operation: StoreOperation) -> Self {
        self.operations.push(operation);
        self
    }

    /// Returns an upper bound of the bytes by which the transaction lets a store grow.
    pub(crate) fn growth(&self) -> usize {
        let of = |operation: &StoreOperation| match operation {
            StoreOperation::Put { name, value, .. } => size(name, value.len()),
            StoreOperation::Append { log, value, .. } => size(log, value.len()),
            StoreOperation::Enlist { name, .. } => size(name, name.len()),
            StoreOperation::Pass { rate, .. } => size(rate, 0),
            StoreOperation::Enter { holder, .. } => size(holder, 0),
            _ => 0,
        };
        self.operations.iter().map(of).sum()
    }
}

/// Bytes that an entry counts in addition to its name and its value.
const OVERHEAD: usize = 64;

/// Returns the size of an entry as the limits of stores count it.
pub(super) fn size(name: &str, value: usize) -> usize {
    OVERHEAD + name.len() + value
}

/// Operation on a partition.
///
/// Records, logs, indexes, rates and places have separate names: a record and a log may have the same name. All of them expire, so that the
/// data of a process that has ended do not stay in the store.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoreOperation {
    /// Reads a record. Output: [`Output::Record`].
    Get {
        /// Name of the record.
        name: String,
    },
    /// Writes a record. Output: [`Output::Version`].
    Put {
        /// Name of the record.
        name: String,
        /// New value.
        value: Vec<u8>,
        /// Time after which the record expires.
        ttl: Duration,
        /// Condition under which the transaction is applied.
        condition: Condition,
    },
    /// Sets the time after which a record, if there is one, expires. Neither its value nor its version changes. Output: [`Output::Done`].
    Touch {
        /// Name of the record.
        name: String,
        /// Time after which the record expires.
        ttl: Duration,
    },
    /// Removes a record, if there is one. Output: [`Output::Done`].
    Remove {
        /// Name of the record.
        name: String,
        /// Condition under which the transaction is applied.
        condition: Condition,
    },
    /// Appends an event to a log. The oldest events beyond `most` are dropped. Output: [`Output::Appended`].
    Append {
        /// Name of the log.
        log: String,
        /// The event.
        value: Vec<u8>,
        /// Time after which the log expires, unless another event is appended.
        ttl: Duration,
        /// Maximum number of events in the log, at least 1.
        most: usize,
    },
    /// Reads the events of a log. Output: [`Output::Events`].
    Read {
        /// Name of the log.
        log: String,
        /// Id of the event after which to begin. Zero begins with the first event.
        after: u64,
        /// Maximum number of events to return.
        most: usize,
    },
    /// Removes a log with all of its events, if there is one. Output: [`Output::Done`].
    Clear {
        /// Name of the log.
        log: String,
    },
    /// Adds an entry to an index, or replaces its order. Output: [`Output::Done`].
    Enlist {
        /// Name of the index.
        index: String,
        /// Name of the entry, often that of a record.
        name: String,
        /// Number by which the entries are sorted, at most 2^53. Entries of the same number are sorted by the bytes of their names.
        order: u64,
        /// Time after which the entry expires. An entry that is there already does not expire earlier than before.
        ttl: Duration,
    },
    /// Removes an entry from an index, if it is there. Output: [`Output::Done`].
    Delist {
        /// Name of the index.
        index: String,
        /// Name of the entry.
        name: String,
    },
    /// Reads the entries of an index, each with the record of its name. Output: [`Output::Entries`].
    List {
        /// Name of the index.
        index: String,
        /// Order and name of the entry after which to begin, even if this entry is gone. `None` begins with the first entry.
        after: Option<(u64, String)>,
        /// Maximum number of entries to return.
        most: usize,
    },
    /// Counts a use of a rate, by the generic cell rate algorithm. The transaction is applied only if the rate allows this use. Output:
    /// [`Output::Done`].
    Pass {
        /// Name of the rate.
        rate: String,
        /// Time in which the rate allows one use.
        interval: Duration,
        /// Time by which uses may come early, which allows bursts. Zero allows none.
        slack: Duration,
    },
    /// Takes one of `most` places, or renews the lease on it. The transaction is applied only if there is a free place. Output:
    /// [`Output::Done`].
    Enter {
        /// Name of the places.
        places: String,
        /// Holder of the place. Each holder has at most one of the places.
        holder: String,
        /// Number of places.
        most: u32,
        /// Time after which the place is free again, unless the lease is renewed.
        lease: Duration,
    },
    /// Gives a place back, if the holder has one. Output: [`Output::Done`].
    Leave {
        /// Name of the places.
        places: String,
        /// Holder of the place.
        holder: String,
    },
    /// Counts the places that are taken. Output: [`Output::Count`].
    Count {
        /// Name of the places.
        places: String,
    },
}

impl StoreOperation {
    /// Creates an operation that reads a record.
    pub fn get(name: impl Into<String>) -> Self {
        Self::Get { name: name.into() }
    }

    /// Creates an operation that writes a record.
    pub fn put(
        name: impl Into<String>,
        value: impl Into<Vec<u8>>,
        ttl: Duration,
        condition: Condition,
    ) -> Self {
        Self::Put { name: name.into(), value: value.into(), ttl, condition }
    }

    /// Creates an operation that removes a record.
    pub fn remove(name: impl Into<String>, condition: Condition) -> Self {
        Self::Remove { name: name.into(), condition }
    }

    /// Creates an operation that appends an event to a log of at most `most` events.
    pub fn append(
        log: impl Into<String>,
        value: impl Into<Vec<u8>>,
        ttl: Duration,
        most: usize,
    ) -> Self {
        Self::Append { log: log.into(), value: value.into(), ttl, most }
    }

    /// Creates an operation that reads at most `most` events of a log after the event with this id.
    pub fn read(log: impl Into<String>, after: u64, most: usize) -> Self {
        Self::Read { log: log.into(), after, most }
    }

    /// Creates an operation that adds an entry to an index.
    pub fn enlist(
        index: impl Into<String>,
        name: impl Into<String>,
        order: u64,
        ttl: Duration,
    ) -> Self {
        Self::Enlist { index: index.into(), name: name.into(), order, ttl }
    }

    /// Creates an operation that counts the places of this name that are taken.
    pub fn count(places: impl Into<String>) -> Self {
        Self::Count { places: places.into() }
    }

    /// Creates an operation that removes an entry from an index.
    pub fn delist(index: impl Into<String>, name: impl Into<String>) -> Self {
        Self::Delist { index: index.into(), name: name.into() }
    }

    /// Creates an operation that reads at most `most` entries of an index after the entry with this order and name.
    pub fn list(index: impl Into<String>, after: Option<(u64, String)>, most: usize) -> Self {
        Self::List { index: index.into(), after, most }
    }
}

/// Condition of a record for a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// No condition.
    Any,
    /// There is no record of this name.
    Absent,
    /// There is a record of this name, with this version.
    Version(u64),
}

/// Record of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Value of the record, which only the writer understands.
    pub value: Vec<u8>,
    /// Version of the record. Each write gives it a higher one, even if the record was removed or has expired in between.
    pub version: u64,
}

/// Event of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogEvent {
    /// Id of the event: that of the event before it plus 1. The first event of a log has an id that no log of this name had before, so
    /// that a reader notices that a log was cleared or has expired. The same is true for the first event after the store may have lost the
    /// last events of the log, for example because a replica has taken over.
    pub id: u64,
    /// The event, which only the writer understands.
    pub value: Vec<u8>,
}

/// Entry of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexEntry {
    /// Number by which the entries are sorted.
    pub order: u64,
    /// Name of the entry.
    pub name: String,
    /// Record with the name of the entry, if there is one.
    pub record: Option<Record>,
}

/// Result of a [`StoreOperation`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Output {
    /// The operation has no result.
    Done,
    /// The record, or `None` if there is none of this name.
    Record(Option<Record>),
    /// Version of the record that was written.
    Version(u64),
    /// Id of the event that was appended.
    Appended(u64),
    /// Events of a log.
    Events {
        /// Events after the given id, the oldest first. If earlier events were dropped, the first id is higher than expected.
        events: Vec<LogEvent>,
        /// Id of the last event that was appended to the log. Zero if there is no log.
        last: u64,
    },
    /// Entries of an index, in their order.
    Entries(Vec<IndexEntry>),
    /// Number of places that are taken.
    Count(u64),
}

/// Result of a [`Transaction`]: the outputs of its operations, in their order, or the reason why it was not applied.
pub type TransactionResult = Result<Vec<Output>, Rejection>;

/// Reason why a transaction was not applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// The condition of the operation with this number does not hold. The first operation has the number 0.
    Condition(usize),
    /// The rate of the operation with this number does not allow a use before this time has passed.
    Wait(usize, Duration),
    /// The operation with this number found no free place.
    NoPlace(usize),
}
