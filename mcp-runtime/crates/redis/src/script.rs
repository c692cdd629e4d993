//! Conversion of transactions to arguments of the script, and of its results.

use std::{sync::LazyLock, time::Duration};

use mcp_runtime::store::{
    Condition, IndexEntry, LogEvent, Output, Record, Rejection, StoreError, StoreOperation,
    Transaction, TransactionResult,
};
use redis::{Cmd, Script, Value};

static SCRIPT: LazyLock<Script> = LazyLock::new(|| Script::new(CODE));

const CODE: &str = include_str!("transaction.lua");

/// Longest time to live, in milliseconds: a year. Redis would accept more, but nothing of a server is worth keeping for longer unread.
const LONGEST: u128 = 366 * 24 * 3600 * 1000;

/// Maximum number of events and entries that a script returns at once, and of events in a log.
const MOST: usize = 100_000;

/// Returns the name of a partition in Redis, of which all other names are made. The braces are the hash tag of Redis Cluster.
pub(crate) fn partition_key(prefix: &str, partition: &str) -> String {
    let partition = partition.replace('%', "%25").replace('}', "%7D");
    format!("{prefix}{{p{partition}}}")
}

/// Returns the name of the channel on which Redis announces the events of a log. Channels belong to no database, so the name has its number.
pub(crate) fn channel(partition_key: &str, log: &str, database: i64) -> String {
    format!("{partition_key}:l:{log}@{database}")
}

/// Returns the command that loads the script.
pub(crate) fn load() -> Cmd {
    let mut load = redis::cmd("SCRIPT");
    load.arg("LOAD").arg(CODE);
    load
}

/// Returns the command that applies a transaction. Each of its reads of a log ends with the event that reaches `bytes`.
pub(crate) fn command(
    prefix: &str,
    database: i64,
    transaction: &Transaction,
    bytes: Option<usize>,
) -> Result<Cmd, StoreError> {
    let mut command = redis::cmd("EVALSHA");
    command.arg(SCRIPT.get_hash()).arg(1).arg(partition_key(prefix, &transaction.partition));
    command.arg(database);
    for operation in &transaction.operations {
        write(&mut command, operation, bytes)?;
    }
    Ok(command)
}

fn write(
    command: &mut Cmd,
    operation: &StoreOperation,
    bytes: Option<usize>,
) -> Result<(), StoreError> {
    match operation {
        StoreOperation::Get { name } => command.arg("get").arg(name),
        StoreOperation::Put { name, value, ttl, condition } => {
            let command = command.arg("put").arg(name).arg(&value[..]).arg(millis(*ttl));
            command.arg(text(*condition))
        }
        StoreOperation::Touch { name, ttl } => command.arg("touch").arg(name).arg(millis(*ttl)),
        StoreOperation::Remove { name, condition } => {
            command.arg("remove").arg(name).arg(text(*condition))
        }
        StoreOperation::Append { log, value, ttl, most } => command
            .arg("append")
            .arg(log)
            .arg(&value[..])
            .arg(millis(*ttl))
            .arg((*most).clamp(1, MOST)),
        StoreOperation::Read { log, after, most } => {
            let command = command.arg("read").arg(log).arg(*after).arg((*most).min(MOST));
            command.arg(bytes.map_or("-".to_owned(), |bytes| bytes.to_string()))
        }
        StoreOperation::Clear { log } => command.arg("clear").arg(log),
        StoreOperation::Enlist { index, name, order, ttl } => command
            .arg("enlist")
            .arg(index)
            .arg(name)
            .arg(format!("{order:016x}"))
            .arg(millis(*ttl)),
        StoreOperation::Delist { index, name } => command.arg("delist").arg(index).arg(name),
        StoreOperation::List { index, after, most } => {
            let after = after
                .as_ref()
                .map_or("-".to_owned(), |(order, name)| format!("({order:016x}{name}"));
            command.arg("list").arg(index).arg(after).arg((*most).min(MOST))
        }
        StoreOperation::Pass { rate, interval, slack } => {
            command.arg("pass").arg(rate).arg(micros(*interval)).arg(micros(*slack))
        }
        StoreOperation::Enter { places, holder, most, lease } => {
            command.arg("enter").arg(places).arg(holder).arg(*most).arg(millis(*lease))
        }
        StoreOperation::Leave { places, holder } => command.arg("leave").arg(places).arg(holder),
        StoreOperation::Count { places } => command.arg("count").arg(places),
        other => {
            return Err(StoreError::failed(format_args!(
                "this version of mcp-runtime-redis does not know the operation {other:?}"
            )));
        }
    };
    Ok(())
}

fn text(condition: Condition) -> String {
    match condition {
        Condition::Any => "*".to_owned(),
        Condition::Absent => "-".to_owned(),
        Condition::Version(version) => version.to_string(),
    }
}

/// Returns a time in milliseconds, at least one, because Redis takes zero for "now".
fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis().clamp(1, LONGEST)).unwrap_or_default()
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros().min(LONGEST * 1000)).unwrap_or_default()
}

/// Reads the result of a transaction.
///
/// # Errors
/// Fails if the result is not one of the script.
pub(crate) fn read(
    transaction: &Transaction,
    value: Value,
) -> Result<TransactionResult, StoreError> {
    result(transaction, value).ok_or_else(|| {
        StoreError::failed("Redis has returned a result that the script does not have")
    })
}

fn result(transaction: &Transaction, value: Value) -> Option<TransactionResult> {
    let mut values = array(value)?.into_iter();
    if integer(values.next()?)? == 1 {
        let outputs = transaction.operations.iter().zip(values);
        let outputs: Option<Vec<_>> =
            outputs.map(|(operation, value)| output(operation, value)).collect();
        return outputs.filter(|outputs| outputs.len() == transaction.operations.len()).map(Ok);
    }
    let number = usize::try_from(integer(values.next()?)?).ok()?;
    Some(Err(match &*bytes(values.next()?)? {
        b"condition" => Rejection::Condition(number),
        b"wait" => Rejection::Wait(number, Duration::from_micros(integer(values.next()?)?)),
        b"place" => Rejection::NoPlace(number),
        _ => return None,
    }))
}

fn output(operation: &StoreOperation, value: Value) -> Option<Output> {
    Some(match operation {
        StoreOperation::Get { .. } => Output::Record(record(value)?),
        StoreOperation::Put { .. } => Output::Version(integer(value)?),
        StoreOperation::Append { .. } => Output::Appended(integer(value)?),
        StoreOperation::Read { .. } => {
            let mut values = array(value)?.into_iter();
            let last = integer(values.next()?)?;
            let mut events = Vec::new();
            while let Some(id) = values.next() {
                events.push(LogEvent { id: integer(id)?, value: bytes(values.next()?)? });
            }
            Output::Events { events, last }
        }
        StoreOperation::List { .. } => {
            let entries = array(value)?.into_iter().map(entry);
            Output::Entries(entries.collect::<Option<_>>()?)
        }
        StoreOperation::Count { .. } => Output::Count(integer(value)?),
        _ => Output::Done,
    })
}

fn record(value: Value) -> Option<Option<Record>> {
    let mut values = array(value)?.into_iter();
    let Some(version) = values.next() else { return Some(None) };
    Some(Some(Record { version: integer(version)?, value: bytes(values.next()?)? }))
}

fn entry(value: Value) -> Option<IndexEntry> {
    let mut values = array(value)?.into_iter();
    let order = String::from_utf8(bytes(values.next()?)?).ok()?;
    let name = String::from_utf8(bytes(values.next()?)?).ok()?;
    let record = record(values.next()?)?;
    Some(IndexEntry { order: u64::from_str_radix(&order, 16).ok()?, name, record })
}

fn array(value: Value) -> Option<Vec<Value>> {
    match value {
        Value::Array(values) => Some(values),
        _ => None,
    }
}

fn integer(value: Value) -> Option<u64> {
    match value {
        Value::Int(number) => u64::try_from(number).ok(),
        _ => None,
    }
}

fn bytes(value: Value) -> Option<Vec<u8>> {
    match value {
        Value::BulkString(bytes) => Some(bytes),
        _ => None,
    }
}
