//! File of tasks: its tables, and how it is opened and locked.

use std::{fs::OpenOptions, io, path::Path, time::Duration};

use rusqlite::{
    Connection, OpenFlags, OptionalExtension as _, Params, Row, Transaction,
    TransactionBehavior::Immediate, params,
};

use super::advice;
use crate::{model::Timestamp, task::KeptTask};

/// Identifies the files of this crate, in the header of the file.
const APPLICATION: i32 = i32::from_be_bytes(*b"mcpt");

/// Version of the format below. A file in another format is left alone.
const FORMAT: i32 = 1;

/// `end` is the last column, so that the columns before it can be read without it.
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

/// The same columns, with an empty `end` for callers that do not need it.
const SELECT_HEADS: &str =
    "SELECT id, owner, created, expires, finished, json, '' FROM task WHERE ";

/// Open file, which no other process can open.
pub(super) struct TaskFile {
    connection: Connection,
    /// Counted once, because no other process writes to the file.
    kept: Amount,
}

/// Number of tasks, and their size in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Amount {
    pub(super) tasks: u64,
    pub(super) bytes: u64,
}

impl Amount {
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
    pub(super) fn open(path: &Path, wait: Duration) -> Result<Self, String> {
        if path == Path::new(":memory:") {
            return Err("that is no file: `MemoryTasks` keeps them in memory".to_owned());
        }
        // SQLite takes an absolute path for the name of a file, and never for anything else.
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

    /// Stores a task, and deletes expired tasks. Returns whether there was room for the task within `most`. If there was none, nothing has
    /// changed.
    pub(super) fn put(&mut self, task: &KeptTask, most: Amount) -> rusqlite::Result<bool> {
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

    /// Returns the connection, for what else is stored in the file.
    #[cfg(feature = "auth-server")]
    pub(super) fn connection(&mut self) -> &mut Connection {
        &mut self.connection
    }

    pub(super) fn get(&self, id: &str) -> rusqlite::Result<Option<KeptTask>> {
        let sql = format!("{SELECT} id = ?1");
        self.connection.query_row(&sql, [id], read).optional()
    }

    /// Returns the tasks of one owner after a place, or from the first task on.
    pub(super) fn list(
        &self,
        owner: &str,
        after: Option<(u64, &str)>,
        most: usize,
    ) -> rusqlite::Result<Vec<KeptTask>> {
        let (created, id) = after.map_or((-1, ""), |(created, id)| (integer(created), id));
        let rest = "owner = ?1 AND (created, id) > (?2, ?3) ORDER BY created, id LIMIT ?4";
        self.select(SELECT_HEADS, rest, params![owner, created, id, integer(most as u64)])
    }

    pub(super) fn unfinished(&self) -> rusqlite::Result<Vec<KeptTask>> {
        self.select(SELECT, "finished = 0 ORDER BY created, id", [])
    }

    fn select(
        &self,
        select: &str,
        rest: &str,
        params: impl Params,
    ) -> rusqlite::Result<Vec<KeptTask>> {
        let mut statement = self.connection.prepare(&format!("{select} {rest}"))?;
        statement.query_map(params, read)?.collect()
    }
}

/// Creates the file if there is none. On Unix only its owner may access it, and SQLite gives the files beside it the same permissions.
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

/// Locks the file for this process, and creates the tables of a new file. A file of something else is not written to.
fn prepare(connection: &mut Connection, wait: Duration) -> rusqlite::Result<Result<(), String>> {
    connection.busy_timeout(wait)?;
    // The lock that the first transaction takes is held until the file is closed, or the process ends in any way.
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
        let text = "it is a database of something else: name another file, or a new one";
        return Ok(Err(text.to_owned()));
    } else if format != FORMAT {
        return Ok(Err(format!(
            "it was written by another version of mcp-runtime, in format {format}, and this one knows {FORMAT} only: \
             use that version, or name another file"
        )));
    } else {
        start.finish()?;
    }
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // A stored task is on the disk, if the disk reports its writes truthfully. macOS needs `fullfsync` for that as well.
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "fullfsync", true)?;
    // A large result does not leave a large journal.
    connection.pragma_update(None, "journal_size_limit", 4 << 20)?;
    Ok(Ok(()))
}

fn count(connection: &Connection) -> rusqlite::Result<Amount> {
    connection.query_row("SELECT count(*), total(bytes) FROM task", [], |row| {
        let (tasks, bytes): (i64, f64) = (row.get(0)?, row.get(1)?);
        Ok(Amount { tasks: tasks.unsigned_abs(), bytes: bytes as u64 })
    })
}

/// Deletes rows, and returns the number of their tasks and bytes.
fn delete(write: &Transaction<'_>, rows: &str, params: impl Params) -> rusqlite::Result<Amount> {
    let mut statement = write.prepare(&format!("DELETE FROM task WHERE {rows} RETURNING bytes"))?;
    let mut deleted = Amount::default();
    for bytes in statement.query_map(params, |row| row.get::<_, i64>(0))? {
        deleted.add(bytes?.unsigned_abs());
    }
    Ok(deleted)
}

fn read(row: &Row<'_>) -> rusqlite::Result<KeptTask> {
    let number = |it: i64| u64::try_from(it).unwrap_or_default();
    Ok(KeptTask {
        id: row.get(0)?,
        owner: row.get(1)?,
        created: number(row.get(2)?),
        expires: row.get::<_, Option<i64>>(3)?.map(number),
        finished: row.get(4)?,
        json: row.get(5)?,
        end: row.get(6)?,
    })
}

/// Converts to a signed integer of SQLite. A number that is too large becomes the largest one.
pub(super) fn integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
