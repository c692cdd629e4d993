//! Interface of a store.

use std::{fmt, future::Future, pin::Pin, sync::Arc, time::Duration};

use tokio::time::Instant;

use super::transaction::{LogEvent, Transaction, TransactionResult};
use crate::{
    error::{Error, ErrorKind},
    unwind::{self, Panicked},
};

/// Future that the methods of a [`Store`] return. Create one with `Box::pin(async { … })`.
pub type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// Store of everything that outlasts a process or is shared by several. Set it with [`Builder::store`](crate::Builder::store).
///
/// The default, [`MemoryStore`](crate::store::MemoryStore), loses everything when the process ends. `SqliteStore` (feature `sqlite`) keeps it in a
/// file.
///
/// A store of your own implements `execute` and `follow`, and the other methods if their defaults do not fit. The macro
/// [`store_suite!`][crate::testing::store_suite] writes the tests that every store has to pass.
///
/// The server drops the future of a method when a client cancels its call. The store may then have applied the transactions or not, but
/// never a part of one, and has to remain usable.
///
#[cfg_attr(not(feature = "store-suite"), doc = include_str!("../../docs/links.md"))]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a store",
    label = "does not implement `Store`",
    note = "`MemoryStore::new()` keeps everything in memory, `SqliteStore` (feature `sqlite`) in a file; a store of your own is a type with `impl Store`"
)]
pub trait Store: Send + Sync + 'static {
    /// Prepares the store. The server calls this method once when it starts, before [`execute`](Self::execute) and
    /// [`follow`](Self::follow). The default implementation does nothing.
    ///
    /// If several servers share the store, the server tries each further step of its start again for about five seconds while the store is
    /// unavailable.
    ///
    /// # Errors
    /// Fails if the store cannot be used. The server does not start then.
    fn open(&self) -> StoreFuture<'_, ()> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Returns whether several servers use the store at the same time. The default implementation returns `false`.
    ///
    /// Servers that share a store act as nodes of a single server: each of them continues what the others have begun. If a store is not
    /// shared, its server keeps in memory what need not outlast the process, which is faster.
    fn is_shared(&self) -> bool {
        false
    }

    /// Executes transactions, and returns their results in the same order. Each transaction is applied as a whole or not at all. Different
    /// transactions of one call may be applied in any order, and one may fail without the others.
    ///
    /// When the future has finished, every process that uses the store sees the changes.
    ///
    /// # Errors
    /// Fails if the store cannot be used. The server then does not know which transactions were applied, unless the error is
    /// [`StoreError::full`]. A store may repeat the transactions by itself only if it is certain that none of them was applied.
    fn execute(&self, transactions: Vec<Transaction>) -> StoreFuture<'_, Vec<TransactionResult>>;

    /// Follows a log, from the event after the given id. The method returns at once, and the follower fails if the store cannot be used.
    fn follow(&self, partition: &str, log: &str, after: u64) -> Box<dyn Follower>;
}

/// Reader of a log that waits for new events.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot follow a log",
    label = "does not implement `Follower`",
    note = "`Store::follow` returns a type of the store with `impl Follower`, in a `Box`"
)]
pub trait Follower: Send {
    /// Waits for the next event. If events were dropped before the follower could return them, the follower continues with the first event
    /// that is still there, and the id of that event shows the gap.
    ///
    /// If the log was cleared, has expired, or may have lost its last events, its next event has a higher id than any event before. The
    /// follower returns this event, and the server sees the gap.
    ///
    /// # Cancel safety
    /// If the future is dropped, no event is lost: the next call returns it.
    ///
    /// # Errors
    /// Fails if the store cannot be used. A later call may succeed, and then returns all events that are still in the log.
    fn next(&mut self) -> StoreFuture<'_, LogEvent>;
}

/// Error of a store.
///
/// ```
/// use mcp_runtime::store::StoreError;
///
/// let error = StoreError::unavailable("the database at db.example.com does not answer");
/// assert!(error.is_unavailable());
/// ```
#[derive(Debug)]
pub struct StoreError {
    kind: StoreErrorKind,
    message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StoreErrorKind {
    Failed,
    Unavailable,
    Full,
}

impl StoreError {
    /// Creates an error for a store that cannot do its work, for example because its data are damaged.
    pub fn failed(why: impl fmt::Display) -> Self {
        Self { kind: StoreErrorKind::Failed, message: format!("{why:#}") }
    }

    /// Creates an error for a store that does not answer, or refuses all requests, and may accept them later. Clients are told to try again.
    pub fn unavailable(why: impl fmt::Display) -> Self {
        Self { kind: StoreErrorKind::Unavailable, message: format!("{why:#}") }
    }

    /// Creates an error for a store that has no space for more. No transaction was applied. Clients are told to try again.
    pub fn full(why: impl fmt::Display) -> Self {
        Self { kind: StoreErrorKind::Full, message: format!("{why:#}") }
    }

    /// Whether the store may accept the request later.
    pub fn is_unavailable(&self) -> bool {
        self.kind == StoreErrorKind::Unavailable
    }

    /// Whether the store has no space for more.
    pub fn is_full(&self) -> bool {
        self.kind == StoreErrorKind::Full
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for StoreError {}

impl StoreError {
    /// Converts the error into the error of a request. Only the log shows the cause, because it may name files and hosts.
    pub(crate) fn into_error(self) -> Error {
        if !self.is_unavailable() && !self.is_full() {
            return Error::of(ErrorKind::Internal, self.message);
        }
        tracing::debug!("a request is refused: {}", self.message);
        Error::of(
            ErrorKind::Unavailable,
            "the store of the server is not available: try again later",
        )
    }
}

/// Time after which the engine takes a store for unavailable. Stores on other machines have shorter deadlines of their own.
const STORE_TIME: Duration = Duration::from_secs(5);

/// Executes transactions, and waits for the store no longer than for [`STORE_TIME`]. A store is code of the author, so this function also
/// catches its panics.
///
/// # Errors
/// Fails if the store fails, panics, or does not answer in time. The transactions may have been applied.
pub(crate) async fn execute(
    store: &dyn Store,
    transactions: Vec<Transaction>,
) -> Result<Vec<TransactionResult>, StoreError> {
    let work = unwind::catch_async(|| store.execute(transactions));
    match tokio::time::timeout(STORE_TIME, work).await {
        Ok(Ok(results)) => results,
        Ok(Err(Panicked)) => Err(StoreError::failed("the store panicked")),
        Err(_) => {
            let seconds = STORE_TIME.as_secs();
            Err(StoreError::unavailable(format_args!("the store has not answered in {seconds} s")))
        }
    }
}

/// Time after which a step of the start of a server is not tried again.
const START_TIME: Duration = Duration::from_secs(5);
/// Pause between two attempts.
const START_PAUSE: Duration = Duration::from_millis(100);

/// Tries a step of the start of a server, and tries it again for about five seconds while it fails because the store is unavailable. The
/// deadline of a store is meant for requests. A request of the start may also have to open a connection, for example to a server of a Redis
/// Cluster.
///
/// # Errors
/// Fails with the error of the last attempt.
pub async fn try_while_unavailable<T, E, F>(
    is_unavailable: impl Fn(&E) -> bool,
    mut step: impl FnMut() -> F,
) -> Result<T, E>
where
    F: Future<Output = Result<T, E>>,
{
    let until = Instant::now() + START_TIME;
    loop {
        match step().await {
            Err(why) if is_unavailable(&why) && Instant::now() + START_PAUSE < until => {
                tokio::time::sleep(START_PAUSE).await;
            }
            done => return done,
        }
    }
}

impl<T: Store + ?Sized> Store for Arc<T> {
    fn open(&self) -> StoreFuture<'_, ()> {
        (**self).open()
    }

    fn is_shared(&self) -> bool {
        (**self).is_shared()
    }

    fn execute(&self, transactions: Vec<Transaction>) -> StoreFuture<'_, Vec<TransactionResult>> {
        (**self).execute(transactions)
    }

    fn follow(&self, partition: &str, log: &str, after: u64) -> Box<dyn Follower> {
        (**self).follow(partition, log, after)
    }
}
