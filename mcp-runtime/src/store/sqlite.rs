//! Store in a SQLite file: the tables, and the code that opens and locks the file.

use std::{
    fmt,
    fs::OpenOptions,
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use rusqlite::{
    Connection, OpenFlags, OptionalExtension as _, Params, Row, Transaction,
    TransactionBehavior::Immediate, params,
};
use tokio::{sync::Mutex, task::spawn_blocking};

use super::advice;
use crate::{
    error::{Error, Result},
    model::Timestamp,
    task::{BoxFuture, TaskRecord, TaskStore, no_room},
};

/// Time to wait for a different server to release the file. It is longer than the five seconds for which a stopping server waits for its
/// calls, so that a restarted server can take over the file.
const WAIT: Duration = Duration::from_secs(6);

/// SQLite application id in the header of the files that this crate creates.
const APPLICATION: i32 = i32::from_be_bytes(*b"mcpt");

/// Version of the table format. A file in a different format is rejected, and not changed.
const FORMAT: i32 = 1;

/// Tables of a new file. The column `end` contains the outcome of a task, which may be large. It is the last column, so that SQLite can
/// read the other columns without it.
const TABLES: &str = "
    CREATE TABLE task (
        id TEXT NOT NULL PRIMARY KEY,
        owner TEXT NOT NULL,
        created INTEGER NOT NULL,
        expires INTEGER,
        finished INTEGER NOT NULL,
        bytes INTEGER NOT NULL,
        json TEXT NOT NULL,
        \"end\" TEXT NOT NULL
    ) STRICT;
    CREATE INDEX task_place ON task (owner, created, id);
    CREATE INDEX task_expires ON task (expires) WHERE expires IS NOT NULL;
    CREATE INDEX task_unfinished ON task (id) WHERE finished = 0;";

const SELECT: &str = "SELECT id, owner, created, expires, finished, json, \"end\" FROM task WHERE ";

/// Query for the columns of [`SELECT`], with an empty `end` for callers that do not need it.
const SELECT_HEADS: &str =
    "SELECT id, owner, created, expires, finished, json, '' FROM task WHERE ";

/// Task store in a SQLite file, which survives a restart (feature `sqlite`).
///
/// Set it with [`Builder::task_store`](crate::Builder::task_store). If tasks may be lost when the process ends, use
/// [`MemoryTasks`](crate::tasks::MemoryTasks) instead. By default, the store keeps at most 65,536 tasks with a total size of 1 GiB.
///
/// With its feature `sqlite`, the crate `mcp-runtime-authorization-server` keeps logins in the same file.
///
/// When a task is stored, expired tasks are deleted. If the new task still exceeds a limit, the oldest finished tasks of the same owner are
/// deleted too. If that is not enough, the new task is rejected.
///
/// A stored task is on the disk. It survives a power cut and the end of the process, even by `kill -9`, provided that the disk keeps the
/// data that it reports as written.
///
/// **Each server needs its own file.** When a server starts, it ends the unfinished tasks in the file, or runs them again. No other process
/// can open the file while the server runs, not even to read it. Therefore each server of a fleet needs its own file. Over stdio, each
/// client starts its own process, so give each of these processes a different path, or serve all clients over HTTP.
///
/// The server opens or creates the file when it starts, and does not start if that fails. The commands of the binary do not touch the file.
///
/// **Permissions.** On Unix a new file can be accessed only by the user that runs the process. An existing file keeps its permissions. The
/// file is not encrypted. Data of deleted tasks may stay in the file until the space is reused. The file does not shrink.
///
#[cfg_attr(feature = "stdio", doc = "```no_run")]
// Without the feature `stdio` there is no `run`, so the example is not compiled.
#[cfg_attr(not(feature = "stdio"), doc = "```ignore")]
/// use mcp_runtime::{tasks::SqliteStore, Exit};
///
/// fn main() -> Exit {
///     let store = SqliteStore::new("tasks.db").most(10_000).bytes(1 << 30);
///     mcp_runtime::server!().task_store(store).run()
/// }
/// ```
pub struct SqliteStore {
    path: PathBuf,
    wait: Duration,
    /// Open file. `None` until the file is first needed.
    file: Arc<Mutex<Option<TaskFile>>>,
    most: StoredSize,
}

impl SqliteStore {
    /// Creates a store in the file at `path`, for at most 65,536 tasks with a total size of 1 GiB.
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
        let most = StoredSize { tasks: 65_536, bytes: 1 << 30 };
        Self { path: path.into(), wait, file: Arc::default(), most }
    }

    /// Sets the maximum number of tasks. Default: 65,536.
    #[must_use]
    pub fn most(mut self, most: usize) -> Self {
        self.most.tasks = most as u64;
        self
    }

    /// Sets the maximum size of all tasks together, results included, in bytes. Default: 1 GiB. The file itself is somewhat larger.
    #[must_use]
    pub fn bytes(mut self, bytes: usize) -> Self {
        self.most.bytes = bytes as u64;
        self
    }

    /// Runs `work` on the file, on a thread of tokio's blocking pool. The lock is fair, so calls run in the order of their arrival. Work
    /// that has begun is finished even if its caller is cancelled.
    async fn with<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut TaskFile) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T> {
        let mut file = self.file.clone().lock_owned().await;
        let (path, wait) = (self.path.clone(), self.wait);
        let done = spawn_blocking(move || {
            let file = match &mut *file {
                Some(file) => file,
                empty => {
                    let opened = TaskFile::open(&path, wait);
                    let opened = opened.map_err(|why| {
                        format!("cannot keep tasks in `{}`: {why}", path.display())
                    })?;
                    empty.insert(opened)
                }
            };
            work(file).map_err(|why| {
                let advice = advice::for_open_file(&path, &why);
                format!("the tasks in `{}`: {advice}", path.display())
            })
        });
        // The error is internal, so the server logs it. Clients do not see the path of the file.
        let done = done.await.map_err(Error::internal)?;
        done.map_err(Error::internal)
    }
}

impl SqliteStore {
    /// Runs `work` on the database, for records that another crate of this project keeps in tables of its own.
    #[doc(hidden)]
    pub async fn with_connection<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T> {
        self.with(move |file| work(&mut file.connection)).await
    }
}

impl TaskStore for SqliteStore {
    fn open(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.with(|_| Ok(())))
    }

    fn put(&self, task: TaskRecord) -> BoxFuture<'_, ()> {
        let most = self.most;
        Box::pin(async move {
            let has_room = self.with(move |file| file.put(&task, most)).await?;
            if has_room { Ok(()) } else { Err(no_room()) }
        })
    }

    fn get<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Option<TaskRecord>> {
        let id = id.to_owned();
        Box::pin(self.with(move |file| file.get(&id)))
    }

    fn list<'a>(
        &'a self,
        owner: &'a str,
        after: Option<(u64, &'a str)>,
        most: usize,
    ) -> BoxFuture<'a, Vec<TaskRecord>> {
        let owner = owner.to_owned();
        let after = after.map(|(created, id)| (created, id.to_owned()));
        Box::pin(self.with(move |file| {
            let after = after.as_ref().map(|(created, id)| (*created, &**id));
            file.list(&owner, after, most)
        }))
    }

    fn unfinished(&self) -> BoxFuture<'_, Vec<TaskRecord>> {
        Box::pin(self.with(|file| file.unfinished()))
    }
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore").field("path", &self.path).finish_non_exhaustive()
    }
}

/// Open database file. No other process can open the file at the same time.
struct TaskFile {
    connection: Connection,
    /// Number and size of the tasks in the file. They are counted when the file is opened and updated with each change, because no other
    /// process writes to the file.
    kept: StoredSize,
}

/// Number of tasks, and their size in bytes.
#[derive(Clone, Copy, Debug, Default)]
struct StoredSize {
    tasks: u64,
    bytes: u64,
}

impl StoredSize {
    fn add(&mut self, bytes: u64) {
        self.tasks += 1;
        self.bytes = self.bytes.saturating_add(bytes);
    }

    fn remove(&mut self, other: Self) {
        self.tasks = self.tasks.saturating_sub(other.tasks);
        self.bytes = self.bytes.saturating_sub(other.bytes);
    }

    fn has_room(self, bytes: u64, most: Self) -> bool {
        self.tasks < most.tasks && self.bytes.saturating_add(bytes) <= most.bytes
    }
}

impl TaskFile {
    /// Opens the file, or creates it. If another process has the file open, waits up to `wait` for that process to end.
    ///
    /// # Errors
    /// Fails if the file cannot be used. The error names the cause and the fix, without the path of the file.
    fn open(path: &Path, wait: Duration) -> Result<Self, String> {
        if path == Path::new(":memory:") {
            return Err("that is not a file: use `MemoryTasks` to keep tasks in memory".to_owned());
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
        let kept = count(&connection).map_err(refused)?;
        Ok(Self { connection, kept })
    }

    /// Stores a task, and deletes expired tasks. Returns `false` if the task does not fit within `most`. In that case, the file is
    /// unchanged.
    fn put(&mut self, task: &TaskRecord, most: StoredSize) -> rusqlite::Result<bool> {
        let write = self.connection.transaction_with_behavior(Immediate)?;
        let mut kept = self.kept;
        kept.remove(delete(&write, "id = ?1", [&task.id])?);
        kept.remove(delete(&write, "expires <= ?1", [integer(Timestamp::now().0)])?);
        let bytes = task.size() as u64;
        while !kept.has_room(bytes, most) {
            let oldest = "id = (SELECT id FROM task WHERE owner = ?1 AND finished = 1
                                ORDER BY created, id LIMIT 1)";
            let forgotten = delete(&write, oldest, [&task.owner])?;
            if forgotten.tasks == 0 {
                return Ok(false);
            }
            kept.remove(forgotten);
        }
        write.execute(
            "INSERT INTO task (id, owner, created, expires, finished, bytes, json, \"end\")
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            params![
                task.id,
                task.owner,
                integer(task.created),
                task.expires.map(integer),
                task.finished,
                integer(bytes),
                task.json,
                task.end
            ],
        )?;
        kept.add(bytes);
        write.commit()?;
        self.kept = kept;
        Ok(true)
    }

    fn get(&self, id: &str) -> rusqlite::Result<Option<TaskRecord>> {
        let sql = format!("{SELECT} id = ?1");
        self.connection.query_row(&sql, [id], read).optional()
    }

    /// Returns the tasks of one owner, sorted by creation time and id. `after` is the creation time and the id after which the list begins.
    /// Without it, the list begins with the first task.
    fn list(
        &self,
        owner: &str,
        after: Option<(u64, &str)>,
        most: usize,
    ) -> rusqlite::Result<Vec<TaskRecord>> {
        let (created, id) = after.map_or((-1, ""), |(created, id)| (integer(created), id));
        let rest = "owner = ?1 AND (created, id) > (?2, ?3) ORDER BY created, id LIMIT ?4";
        self.select(SELECT_HEADS, rest, params![owner, created, id, integer(most as u64)])
    }

    fn unfinished(&self) -> rusqlite::Result<Vec<TaskRecord>> {
        self.select(SELECT, "finished = 0 ORDER BY created, id", [])
    }

    fn select(
        &self,
        select: &str,
        rest: &str,
        params: impl Params,
    ) -> rusqlite::Result<Vec<TaskRecord>> {
        let mut statement = self.connection.prepare(&format!("{select} {rest}"))?;
        statement.query_map(params, read)?.collect()
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
        start.execute_batch(TABLES)?;
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
    // With `FULL`, SQLite commits a task only after the task has been written to the disk. On macOS this also needs `fullfsync`.
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "fullfsync", true)?;
    // Limits the size of the journal file that remains after a large result has been stored.
    connection.pragma_update(None, "journal_size_limit", 4 << 20)?;
    Ok(Ok(()))
}

fn count(connection: &Connection) -> rusqlite::Result<StoredSize> {
    connection.query_row("SELECT count(*), total(bytes) FROM task", [], |row| {
        let (tasks, bytes): (i64, f64) = (row.get(0)?, row.get(1)?);
        Ok(StoredSize { tasks: tasks.unsigned_abs(), bytes: bytes as u64 })
    })
}

/// Deletes the tasks that the condition `rows` selects. Returns their number and their size in bytes.
fn delete(
    write: &Transaction<'_>,
    rows: &str,
    params: impl Params,
) -> rusqlite::Result<StoredSize> {
    let mut statement = write.prepare(&format!("DELETE FROM task WHERE {rows} RETURNING bytes"))?;
    let mut deleted = StoredSize::default();
    for bytes in statement.query_map(params, |row| row.get::<_, i64>(0))? {
        deleted.add(bytes?.unsigned_abs());
    }
    Ok(deleted)
}

fn read(row: &Row<'_>) -> rusqlite::Result<TaskRecord> {
    let number = |number: i64| u64::try_from(number).unwrap_or_default();
    Ok(TaskRecord {
        id: row.get(0)?,
        owner: row.get(1)?,
        created: number(row.get(2)?),
        expires: row.get::<_, Option<i64>>(3)?.map(number),
        finished: row.get(4)?,
        json: row.get(5)?,
        end: row.get(6)?,
    })
}

/// Converts a number to the signed 64-bit integers of SQLite. A number that is too large becomes `i64::MAX`.
fn integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
