//! Store in a SQLite file: the code that opens and locks the file, and runs transactions on it.

use std::{
    fmt,
    fs::OpenOptions,
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use rusqlite::{Connection, OpenFlags, TransactionBehavior::Immediate};
use tokio::{
    sync::{Mutex, Notify},
    task::spawn_blocking,
};

use super::{advice, operations};
use crate::storage::{
    Follower, LogEvent, Output, Store, StoreError, StoreFuture, StoreOperation, Transaction,
    TransactionResult,
};

/// Time to wait for a different server to release the file. It is longer than the five seconds for which a stopping server waits for its
/// calls, so that a restarted server can take over the file.
const WAIT: Duration = Duration::from_secs(6);

/// SQLite application id in the header of the files that this crate creates.
const APPLICATION: i32 = i32::from_be_bytes(*b"mcpt");

/// Version of the table format. A file in a different format is rejected, and not changed.
const FORMAT: i32 = 2;

/// Size of a page of the file in bytes, the default of SQLite.
const PAGE: u64 = 4096;

/// Time between two searches for expired data, in nanoseconds.
const SWEEP: i64 = 60 * 1_000_000_000;

/// Store in a SQLite file, which survives a restart (feature `sqlite`).
///
/// Set it with [`Builder::store`](crate::Builder::store). It keeps tasks, and the logins of an authorization server. If these may be lost
/// when the process ends, use [`MemoryStore`](crate::storage::MemoryStore) instead. By default, the file grows to at most 1 GiB. When the
/// file is full, the server rejects what would need more space.
///
/// What the store has confirmed is on the disk. It survives a power cut and the end of the process, even by `kill -9`, provided that the
/// disk keeps the data that it reports as written.
///
/// **Each server needs its own file.** No other process can open the file while the server runs, not even to read it. Over stdio, each
/// client starts its own process, so give each of these processes a different path, or serve all clients over HTTP.
///
/// The server opens or creates the file when it starts, and does not start if that fails. The commands of the binary do not touch the file.
///
/// **Permissions.** On Unix a new file can be accessed only by the user that runs the process. An existing file keeps its permissions. The
/// file is not encrypted. Removed data may stay in the file until the space is reused. The file does not shrink.
///
/// ```
/// use mcp_runtime::store::SqliteStore;
///
/// let store = SqliteStore::new("server.db").bytes(1 << 30);
/// let server = mcp_runtime::server!().store(store);
/// # let _ = server;
/// ```
pub struct SqliteStore(Arc<SqliteFile>);

/// Open file, which no other process can open.
struct OpenFile {
    connection: Connection,
    /// Time of the last search for expired data, in nanoseconds since 1970.
    swept: i64,
}

/// A file, open or not, which the followers of logs share with the store.
#[derive(Clone)]
struct SqliteFile {
    path: PathBuf,
    wait: Duration,
    /// The open file. `None` until the file is first needed.
    open: Arc<Mutex<Option<OpenFile>>>,
    /// Maximum size of the file in bytes.
    most: u64,
    /// Wakes the followers after a transaction.
    appended: Arc<Notify>,
}

impl SqliteStore {
    /// Creates a store in the file at `path`, which grows to at most 1 GiB.
    ///
    /// The file is opened when the server starts. If another process has the file open, the server waits up to six seconds for that process
    /// to end. The process must be able to create files in the directory, because SQLite keeps its journals there.
    ///
    /// The server does not start if the file cannot be read and written, or is not a SQLite database. It also rejects a database of a
    /// different application, and a database in the format of a different version of this crate. A rejected file is not changed. The error
    /// names the file, the cause and the fix.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self::waiting(path, WAIT)
    }

    pub(super) fn waiting(path: impl Into<PathBuf>, wait: Duration) -> Self {
        Self(Arc::new(SqliteFile {
            path: path.into(),
            wait,
            open: Arc::default(),
            most: 1 << 30,
            appended: Arc::default(),
        }))
    }

    /// Sets the maximum size of the data in the file, in bytes. The journals of SQLite beside the file are not counted. Default: 1 GiB.
    #[must_use]
    pub fn bytes(self, most: u64) -> Self {
        Self(Arc::new(SqliteFile { most, ..(*self.0).clone() }))
    }

    /// Runs `work` on the open file, for tests of errors.
    #[cfg(test)]
    pub(super) async fn with_connection<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let path = self.0.path.clone();
        let done =
            self.0.with(move |file| work(&mut file.connection).map_err(|why| failed(&path, &why)));
        done.await
    }
}

impl SqliteFile {
    /// Runs `work` on the file, on a thread of tokio's blocking pool. The lock is fair, so calls run in the order of their arrival. Work
    /// that has begun is finished even if its caller is cancelled.
    async fn with<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut OpenFile) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let mut file = self.open.clone().lock_owned().await;
        let (path, wait) = (self.path.clone(), self.wait);
        let done = spawn_blocking(move || {
            let file = match &mut *file {
                Some(file) => file,
                empty => {
                    let opened = OpenFile::open(&path, wait).map_err(|why| {
                        let path = path.display();
                        StoreError::failed(format_args!("cannot keep anything in `{path}`: {why}"))
                    })?;
                    empty.insert(opened)
                }
            };
            work(file)
        });
        done.await.map_err(StoreError::failed)?
    }

    async fn execute(
        &self,
        transactions: Vec<Transaction>,
    ) -> Result<Vec<TransactionResult>, StoreError> {
        let (path, most) = (self.path.clone(), self.most);
        let results = self.with(move |file| {
            let growth: usize = transactions.iter().map(Transaction::growth).sum();
            match file.execute(&transactions, growth as u64, most) {
                Ok(Some(results)) => Ok(results),
                Ok(None) => Err(StoreError::full(format_args!(
                    "the store `{}` is full: it may hold {most} bytes (`SqliteStore::bytes`)",
                    path.display()
                ))),
                Err(why) => Err(failed(&path, &why)),
            }
        });
        let results = results.await?;
        self.appended.notify_waiters();
        Ok(results)
    }
}

impl OpenFile {
    /// Opens the file, or creates it. If another process has the file open, waits up to `wait` for that process to end.
    ///
    /// # Errors
    /// Fails if the file cannot be used. The error names the cause and the fix, without the path of the file.
    fn open(path: &Path, wait: Duration) -> Result<Self, String> {
        if path == Path::new(":memory:") {
            return Err(
                "that is not a file: use `MemoryStore` to keep everything in memory".to_owned()
            );
        }
        // Some relative paths have a special meaning for SQLite, but an absolute path always names a file.
        let path = std::path::absolute(path).map_err(|why| advice::for_path(path, &why))?;
        make(&path).map_err(|why| advice::for_path(&path, &why))?;
        if let Some(other) = advice::for_kind(&path) {
            return Err(other.to_owned());
        }
        let refused = |why: rusqlite::Error| advice::for_opening(&path, &why);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = Connection::open_with_flags(&path, flags).map_err(refused)?;
        prepare(&mut connection, wait).map_err(refused)??;
        let mut file = Self { connection, swept: 0 };
        file.sweep(now()).map_err(refused)?;
        Ok(file)
    }

    /// Executes transactions. Returns `None` if the file would have more than `most` bytes with the `growth` of the transactions.
    fn execute(
        &mut self,
        transactions: &[Transaction],
        growth: u64,
        most: u64,
    ) -> rusqlite::Result<Option<Vec<TransactionResult>>> {
        let now = now();
        let is_full = |connection: &Connection| -> rusqlite::Result<bool> {
            Ok(growth > 0 && used(connection)?.saturating_add(growth) > most)
        };
        if now.saturating_sub(self.swept) >= SWEEP || is_full(&self.connection)? {
            self.sweep(now)?;
            if is_full(&self.connection)? {
                return Ok(None);
            }
        }
        operations::execute(&mut self.connection, transactions, now).map(Some)
    }

    fn sweep(&mut self, now: i64) -> rusqlite::Result<()> {
        self.swept = now;
        operations::sweep(&mut self.connection, now)
    }
}

/// Returns the size of the data in the file, in bytes.
fn used(connection: &Connection) -> rusqlite::Result<u64> {
    let number = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
    let pages = number("PRAGMA page_count")? - number("PRAGMA freelist_count")?;
    Ok(pages.unsigned_abs().saturating_mul(PAGE))
}

/// Returns the error for a file that is open and cannot be used. Clients do not see it, because it names the path of the file.
fn failed(path: &Path, why: &rusqlite::Error) -> StoreError {
    let advice = advice::for_open_file(path, why);
    StoreError::failed(format_args!("the store `{}`: {advice}", path.display()))
}

/// Returns the time in nanoseconds since 1970, which the next process understands too.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

impl Store for SqliteStore {
    fn open(&self) -> StoreFuture<'_, ()> {
        Box::pin(self.0.with(|_| Ok(())))
    }

    fn execute(&self, transactions: Vec<Transaction>) -> StoreFuture<'_, Vec<TransactionResult>> {
        Box::pin(self.0.execute(transactions))
    }

    fn follow(&self, partition: &str, log: &str, after: u64) -> Box<dyn Follower> {
        Box::new(SqliteFollower {
            file: self.0.clone(),
            partition: partition.to_owned(),
            log: log.to_owned(),
            after,
        })
    }
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore").field("path", &self.0.path).finish_non_exhaustive()
    }
}

/// Follower of a log in a file. Only this process writes to the file, so the store wakes it after each transaction.
struct SqliteFollower {
    file: Arc<SqliteFile>,
    partition: String,
    log: String,
    after: u64,
}

impl SqliteFollower {
    async fn take(&mut self) -> Result<Option<LogEvent>, StoreError> {
        let read = StoreOperation::read(&*self.log, self.after, 1);
        let read = Transaction::on(&*self.partition).then(read);
        // Wakes no followers, because it only reads.
        let path = self.file.path.clone();
        let results = self.file.with(move |file| {
            file.execute(&[read], 0, u64::MAX).map_err(|why| failed(&path, &why))
        });
        let first = results.await?.unwrap_or_default().into_iter().next();
        let Some(Ok(outputs)) = first else { return Ok(None) };
        let Some(Output::Events { events, .. }) = outputs.into_iter().next() else {
            return Ok(None);
        };
        let event = events.into_iter().next();
        self.after = event.as_ref().map_or(self.after, |event| event.id);
        Ok(event)
    }
}

impl Follower for SqliteFollower {
    fn next(&mut self) -> StoreFuture<'_, LogEvent> {
        Box::pin(async {
            let appended = self.file.appended.clone();
            loop {
                let wake = appended.notified();
                tokio::pin!(wake);
                // Registers before the look, so that no event between the look and the wait is missed.
                wake.as_mut().enable();
                if let Some(event) = self.take().await? {
                    return Ok(event);
                }
                wake.await;
            }
        })
    }
}

/// Creates the file if it does not exist. On Unix, only the user that runs the process may access a new file, and SQLite gives the same
/// permissions to its journals.
fn make(path: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Err(why) if why.kind() != io::ErrorKind::AlreadyExists => Err(why),
        _ => Ok(()),
    }
}

/// Locks the file for this process, and creates the tables of a new file. A file of a different application is not changed.
fn prepare(connection: &mut Connection, wait: Duration) -> rusqlite::Result<Result<(), String>> {
    connection.busy_timeout(wait)?;
    // In this mode, SQLite holds the lock that the first transaction takes until the file is closed or the process ends, even if it
    // crashes.
    connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
    let start = connection.transaction_with_behavior(Immediate)?;
    let number = |sql: &str| start.query_row(sql, [], |row| row.get::<_, i32>(0));
    let application = number("PRAGMA application_id")?;
    let format = number("PRAGMA user_version")?;
    let is_new = application == 0
        && format == 0
        && number("SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema)")? == 1;
    if is_new {
        start.execute_batch(operations::TABLES)?;
        start.pragma_update(None, "application_id", APPLICATION)?;
        start.pragma_update(None, "user_version", FORMAT)?;
        start.commit()?;
    } else if application != APPLICATION {
        let text = "it is a database of another application: name another file, or a new one";
        return Ok(Err(text.to_owned()));
    } else if format != FORMAT {
        return Ok(Err(format!(
            "it was written by another version of mcp-runtime, in format {format}, and this version knows only format {FORMAT}: \
             use the other version, or name another file"
        )));
    } else {
        start.finish()?;
    }
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // With `FULL`, SQLite commits a transaction only after it has been written to the disk. On macOS this also needs `fullfsync`.
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "fullfsync", true)?;
    // Limits the size of the journal file that remains after a large value has been stored.
    connection.pragma_update(None, "journal_size_limit", 4 << 20)?;
    Ok(Ok(()))
}
