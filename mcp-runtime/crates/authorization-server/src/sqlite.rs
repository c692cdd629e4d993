//! Store of clients and grants in SQLite, in the same file as the tasks.

use mcp_runtime::tasks::SqliteStore;
use rusqlite::{Connection, TransactionBehavior::Immediate, params};

use crate::store::{LoginStore, RecordChange, RecordKind, StoreFuture, StoredRecord};

/// The table is created on first use, so that a file with only tasks does not change.
const TABLE: &str = "
    CREATE TABLE IF NOT EXISTS authorization (
        kind TEXT NOT NULL,
        key TEXT NOT NULL,
        expires INTEGER NOT NULL,
        json TEXT NOT NULL,
        PRIMARY KEY (kind, key)
    ) STRICT, WITHOUT ROWID;";

impl LoginStore for SqliteStore {
    fn load(&self, now: u64) -> StoreFuture<'_, Vec<StoredRecord>> {
        Box::pin(self.with_connection(move |connection| load(connection, now)))
    }

    fn write(&self, changes: Vec<RecordChange>) -> StoreFuture<'_, ()> {
        Box::pin(self.with_connection(move |connection| write(connection, &changes)))
    }
}

fn load(connection: &mut Connection, now: u64) -> rusqlite::Result<Vec<StoredRecord>> {
    connection.execute_batch(TABLE)?;
    connection.execute("DELETE FROM authorization WHERE expires <= ?1", [integer(now)])?;
    let mut rows = connection.prepare("SELECT kind, key, expires, json FROM authorization")?;
    let rows = rows.query_map([], |row| {
        let kind: String = row.get(0)?;
        let expires = u64::try_from(row.get::<_, i64>(2)?).unwrap_or_default();
        let row = |kind| Ok(StoredRecord { kind, key: row.get(1)?, expires, json: row.get(3)? });
        // A row of an unknown kind was written by a newer version, and is skipped.
        RecordKind::named(&kind).map(row).transpose()
    })?;
    rows.filter_map(Result::transpose).collect()
}

fn write(connection: &mut Connection, changes: &[RecordChange]) -> rusqlite::Result<()> {
    let write = connection.transaction_with_behavior(Immediate)?;
    for (kind, key, row) in changes {
        match row {
            Some(StoredRecord { expires, json, .. }) => write.execute(
                "INSERT INTO authorization (kind, key, expires, json) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT DO UPDATE SET expires = ?3, json = ?4",
                params![kind.name(), key, integer(*expires), json],
            )?,
            None => write.execute(
                "DELETE FROM authorization WHERE kind = ?1 AND key = ?2",
                params![kind.name(), key],
            )?,
        };
    }
    write.commit()
}

/// Converts a number to a signed integer of SQLite. A number that is too large becomes the maximum.
fn integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
