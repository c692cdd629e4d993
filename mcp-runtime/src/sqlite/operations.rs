//! Transactions of a store as SQL: the tables, and the statements of each operation.

use std::time::Duration;

use rusqlite::{
    Connection, OptionalExtension as _, Params, Transaction as Sql, TransactionBehavior::Immediate,
    params,
};

use crate::storage::{
    Condition, IndexEntry, LogEvent, Output, Record, Rejection, StoreOperation, Transaction,
    TransactionResult,
};

/// Tables of a new file. Times are nanoseconds since 1970. The last columns contain the values, which may be large, so that SQLite can read
/// the others without them.
pub(super) const TABLES: &str = "
    CREATE TABLE version (last INTEGER NOT NULL) STRICT;
    INSERT INTO version VALUES (0);
    CREATE TABLE record (
        partition TEXT NOT NULL, name TEXT NOT NULL, version INTEGER NOT NULL, expires INTEGER NOT NULL, value BLOB NOT NULL,
        PRIMARY KEY (partition, name)
    ) STRICT;
    CREATE INDEX record_expires ON record (expires);
    CREATE TABLE log (
        partition TEXT NOT NULL, name TEXT NOT NULL, last INTEGER NOT NULL, expires INTEGER NOT NULL,
        PRIMARY KEY (partition, name)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX log_expires ON log (expires);
    CREATE TABLE event (
        partition TEXT NOT NULL, log TEXT NOT NULL, id INTEGER NOT NULL, value BLOB NOT NULL,
        PRIMARY KEY (partition, log, id)
    ) STRICT;
    CREATE TABLE entry (
        partition TEXT NOT NULL, list TEXT NOT NULL, name TEXT NOT NULL, place INTEGER NOT NULL, expires INTEGER NOT NULL,
        PRIMARY KEY (partition, list, name)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX entry_place ON entry (partition, list, place, name);
    CREATE INDEX entry_expires ON entry (expires);
    CREATE TABLE rate (
        partition TEXT NOT NULL, name TEXT NOT NULL, due INTEGER NOT NULL,
        PRIMARY KEY (partition, name)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE lease (
        partition TEXT NOT NULL, places TEXT NOT NULL, holder TEXT NOT NULL, expires INTEGER NOT NULL,
        PRIMARY KEY (partition, places, holder)
    ) STRICT, WITHOUT ROWID;";

/// Executes transactions in one transaction of SQLite, so that they reach the disk together. `now` is in nanoseconds since 1970.
pub(super) fn execute(
    connection: &mut Connection,
    transactions: &[Transaction],
    now: i64,
) -> rusqlite::Result<Vec<TransactionResult>> {
    let sql = connection.transaction_with_behavior(Immediate)?;
    let results = transactions.iter().map(|transaction| run(&sql, transaction, now));
    let results = results.collect::<rusqlite::Result<_>>()?;
    sql.commit()?;
    Ok(results)
}

/// Removes everything that has expired.
pub(super) fn sweep(connection: &mut Connection, now: i64) -> rusqlite::Result<()> {
    let sql = connection.transaction_with_behavior(Immediate)?;
    sql.execute(
        "DELETE FROM event WHERE EXISTS (
             SELECT 1 FROM log WHERE log.partition = event.partition AND log.name = event.log AND expires <= ?1
         )",
        [now],
    )?;
    for table in ["record", "log", "entry", "lease"] {
        sql.execute(&format!("DELETE FROM {table} WHERE expires <= ?1"), [now])?;
    }
    sql.execute("DELETE FROM rate WHERE due <= ?1", [now])?;
    sql.commit()
}

fn run(sql: &Sql<'_>, transaction: &Transaction, now: i64) -> rusqlite::Result<TransactionResult> {
    let rows = Rows { sql, partition: &transaction.partition, now };
    for (number, operation) in transaction.operations.iter().enumerate() {
        if let Err(rejection) = rows.check(number, operation)? {
            return Ok(Err(rejection));
        }
    }
    let outputs = transaction.operations.iter().map(|operation| rows.apply(operation));
    Ok(Ok(outputs.collect::<rusqlite::Result<_>>()?))
}

/// Rows of one partition, within a transaction of SQLite.
struct Rows<'a> {
    sql: &'a Sql<'a>,
    partition: &'a str,
    now: i64,
}

impl Rows<'_> {
    fn statement(&self, text: &str) -> rusqlite::Result<rusqlite::Statement<'_>> {
        self.sql.prepare(text)
    }

    fn change(&self, text: &str, params: impl Params) -> rusqlite::Result<()> {
        self.statement(text)?.execute(params).map(drop)
    }

    /// Returns the time after which something expires.
    fn expiry(&self, ttl: Duration) -> i64 {
        self.now.saturating_add(nanos(ttl))
    }

    /// Checks whether the operation with this number allows the transaction.
    fn check(
        &self,
        number: usize,
        operation: &StoreOperation,
    ) -> rusqlite::Result<Result<(), Rejection>> {
        Ok(match operation {
            StoreOperation::Put { name, condition, .. }
            | StoreOperation::Remove { name, condition } => {
                let holds = match condition {
                    Condition::Any => true,
                    Condition::Absent => self.version(name)?.is_none(),
                    Condition::Version(expected) => self.version(name)? == Some(integer(*expected)),
                };
                if holds { Ok(()) } else { Err(Rejection::Condition(number)) }
            }
            StoreOperation::Pass { rate, slack, .. } => {
                let due = self.due(rate)?.unwrap_or(self.now);
                let wait = due.saturating_sub(self.now).saturating_sub(nanos(*slack));
                match u64::try_from(wait) {
                    Ok(wait) if wait > 0 => {
                        Err(Rejection::Wait(number, Duration::from_nanos(wait)))
                    }
                    _ => Ok(()),
                }
            }
            StoreOperation::Enter { places, holder, most, .. } => {
                let others = self.taken(places, Some(holder))?;
                if others < i64::from(*most) { Ok(()) } else { Err(Rejection::NoPlace(number)) }
            }
            _ => Ok(()),
        })
    }

    fn apply(&self, operation: &StoreOperation) -> rusqlite::Result<Output> {
        let partition = self.partition;
        match operation {
            StoreOperation::Get { name } => return Ok(Output::Record(self.record(name)?)),
            StoreOperation::Put { name, value, ttl, .. } => {
                let version = self.next_version()?;
                self.change(
                    "INSERT INTO record (partition, name, version, expires, value) VALUES (?1, ?2, ?3, ?4, ?5)
                     ON CONFLICT DO UPDATE SET version = ?3, expires = ?4, value = ?5",
                    params![partition, name, version, self.expiry(*ttl), value],
                )?;
                return Ok(Output::Version(version.unsigned_abs()));
            }
            StoreOperation::Touch { name, ttl } => self.change(
                "UPDATE record SET expires = ?3 WHERE partition = ?1 AND name = ?2 AND expires > ?4",
                params![partition, name, self.expiry(*ttl), self.now],
            )?,
            StoreOperation::Remove { name, .. } => self.change(
                "DELETE FROM record WHERE partition = ?1 AND name = ?2",
                params![partition, name],
            )?,
            StoreOperation::Append { log, value, ttl, most } => {
                return self.append(log, value, *ttl, *most);
            }
            StoreOperation::Read { log, after, most } => return self.read(log, *after, *most),
            StoreOperation::Clear { log } => self.clear(log)?,
            StoreOperation::Enlist { index, name, order, ttl } => self.change(
                "INSERT INTO entry (partition, list, name, place, expires) VALUES (?1, ?2, ?3, ?4, ?5)
                 ON CONFLICT DO UPDATE SET place = ?4, expires = max(expires, ?5)",
                params![partition, index, name, integer(*order), self.expiry(*ttl)],
            )?,
            StoreOperation::Delist { index, name } => self.change(
                "DELETE FROM entry WHERE partition = ?1 AND list = ?2 AND name = ?3",
                params![partition, index, name],
            )?,
            StoreOperation::List { index, after, most } => {
                return self.list(index, after.as_ref(), *most);
            }
            StoreOperation::Pass { rate, interval, .. } => {
                let due = self.due(rate)?.unwrap_or(self.now).max(self.now);
                self.change(
                    "INSERT INTO rate (partition, name, due) VALUES (?1, ?2, ?3)
                     ON CONFLICT DO UPDATE SET due = ?3",
                    params![partition, rate, due.saturating_add(nanos(*interval))],
                )?;
            }
            StoreOperation::Enter { places, holder, lease, .. } => self.change(
                "INSERT INTO lease (partition, places, holder, expires) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT DO UPDATE SET expires = ?4",
                params![partition, places, holder, self.expiry(*lease)],
            )?,
            StoreOperation::Leave { places, holder } => self.change(
                "DELETE FROM lease WHERE partition = ?1 AND places = ?2 AND holder = ?3",
                params![partition, places, holder],
            )?,
            StoreOperation::Count { places } => {
                return Ok(Output::Count(self.taken(places, None)?.unsigned_abs()));
            }
        }
        Ok(Output::Done)
    }

    /// Returns the number of places that are taken, without that of `except`.
    fn taken(&self, places: &str, except: Option<&str>) -> rusqlite::Result<i64> {
        let mut count = self.statement(
            "SELECT count(*) FROM lease
             WHERE partition = ?1 AND places = ?2 AND holder IS NOT ?3 AND expires > ?4",
        )?;
        count.query_row(params![self.partition, places, except, self.now], |row| row.get(0))
    }

    /// Returns a number that is higher than each version of a record and each id of an event.
    fn next_version(&self) -> rusqlite::Result<i64> {
        let mut next = self.statement("UPDATE version SET last = last + 1 RETURNING last")?;
        next.query_row([], |row| row.get(0))
    }

    fn version(&self, name: &str) -> rusqlite::Result<Option<i64>> {
        let text = "SELECT version FROM record WHERE partition = ?1 AND name = ?2 AND expires > ?3";
        let row = params![self.partition, name, self.now];
        self.statement(text)?.query_row(row, |row| row.get(0)).optional()
    }

    fn record(&self, name: &str) -> rusqlite::Result<Option<Record>> {
        let text =
            "SELECT version, value FROM record WHERE partition = ?1 AND name = ?2 AND expires > ?3";
        let read = |row: &rusqlite::Row<'_>| {
            Ok(Record { version: row.get::<_, i64>(0)?.unsigned_abs(), value: row.get(1)? })
        };
        self.statement(text)?.query_row(params![self.partition, name, self.now], read).optional()
    }

    fn due(&self, rate: &str) -> rusqlite::Result<Option<i64>> {
        let text = "SELECT due FROM rate WHERE partition = ?1 AND name = ?2";
        self.statement(text)?.query_row(params![self.partition, rate], |row| row.get(0)).optional()
    }

    /// Returns the id of the last event of a log, or zero if there is no log.
    fn last(&self, log: &str) -> rusqlite::Result<i64> {
        let text = "SELECT last FROM log WHERE partition = ?1 AND name = ?2 AND expires > ?3";
        let row = params![self.partition, log, self.now];
        Ok(self.statement(text)?.query_row(row, |row| row.get(0)).optional()?.unwrap_or(0))
    }

    fn append(
        &self,
        log: &str,
        value: &[u8],
        ttl: Duration,
        most: usize,
    ) -> rusqlite::Result<Output> {
        let (first, last) = (self.next_version()?, self.last(log)?);
        let id = if last == 0 { first } else { last + 1 };
        if last == 0 {
            // Removes the events of a log that has expired.
            self.clear(log)?;
        }
        self.change(
            "INSERT INTO log (partition, name, last, expires) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT DO UPDATE SET last = ?3, expires = ?4",
            params![self.partition, log, id, self.expiry(ttl)],
        )?;
        self.change(
            "INSERT INTO event (partition, log, id, value) VALUES (?1, ?2, ?3, ?4)",
            params![self.partition, log, id, value],
        )?;
        self.change(
            "DELETE FROM event WHERE partition = ?1 AND log = ?2 AND id <= ?3",
            params![self.partition, log, id.saturating_sub(integer(most.max(1) as u64))],
        )?;
        Ok(Output::Appended(id.unsigned_abs()))
    }

    fn read(&self, log: &str, after: u64, most: usize) -> rusqlite::Result<Output> {
        let last = self.last(log)?;
        if last == 0 {
            return Ok(Output::Events { events: Vec::new(), last: 0 });
        }
        let mut rows = self.statement(
            "SELECT id, value FROM event WHERE partition = ?1 AND log = ?2 AND id > ?3 ORDER BY id LIMIT ?4",
        )?;
        let row = params![self.partition, log, integer(after), integer(most as u64)];
        let event = |row: &rusqlite::Row<'_>| {
            Ok(LogEvent { id: row.get::<_, i64>(0)?.unsigned_abs(), value: row.get(1)? })
        };
        let events = rows.query_map(row, event)?.collect::<rusqlite::Result<_>>()?;
        Ok(Output::Events { events, last: last.unsigned_abs() })
    }

    fn clear(&self, log: &str) -> rusqlite::Result<()> {
        let row = params![self.partition, log];
        self.change("DELETE FROM log WHERE partition = ?1 AND name = ?2", row)?;
        self.change("DELETE FROM event WHERE partition = ?1 AND log = ?2", row)
    }

    fn list(
        &self,
        index: &str,
        after: Option<&(u64, String)>,
        most: usize,
    ) -> rusqlite::Result<Output> {
        let (order, name) = after.map_or((-1, ""), |(order, name)| (integer(*order), name));
        let mut rows = self.statement(
            "SELECT entry.place, entry.name, record.version, record.value
             FROM entry LEFT JOIN record
             ON record.partition = entry.partition AND record.name = entry.name AND record.expires > ?5
             WHERE entry.partition = ?1 AND list = ?2 AND (entry.place, entry.name) > (?3, ?4) AND entry.expires > ?5
             ORDER BY entry.place, entry.name LIMIT ?6",
        )?;
        let row = params![self.partition, index, order, name, self.now, integer(most as u64)];
        let entry = |row: &rusqlite::Row<'_>| {
            let version: Option<i64> = row.get(2)?;
            let record = match version {
                Some(version) => {
                    Some(Record { version: version.unsigned_abs(), value: row.get(3)? })
                }
                None => None,
            };
            let order = row.get::<_, i64>(0)?.unsigned_abs();
            Ok(IndexEntry { order, name: row.get(1)?, record })
        };
        let entries = rows.query_map(row, entry)?.collect::<rusqlite::Result<_>>()?;
        Ok(Output::Entries(entries))
    }
}

fn nanos(time: Duration) -> i64 {
    i64::try_from(time.as_nanos()).unwrap_or(i64::MAX)
}

/// Converts a number to the signed 64-bit integers of SQLite. A number that is too large becomes `i64::MAX`.
fn integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
