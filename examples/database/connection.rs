//! Connections that can only read, and the errors of the statements that run on them.

use std::path::Path;

use mcp_runtime::{Error, Result};
use rusqlite::{
    Connection, ErrorCode, OpenFlags, Statement,
    config::DbConfig,
    hooks::{AuthAction, AuthContext, Authorization},
    limits::Limit,
};

use crate::schema;

/// Maximum size of a text, a blob or a row, in bytes. SQLite cannot interrupt a function, and `instr` takes a second at this size.
const MAX_LENGTH: i32 = 250_000;

/// Limits that SQLite recommends for statements from untrusted sources (<https://sqlite.org/security.html>).
const LIMITS: [(Limit, i32); 4] = [
    (Limit::SQLITE_LIMIT_LENGTH, MAX_LENGTH),
    (Limit::SQLITE_LIMIT_SQL_LENGTH, 100_000),
    (Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 100),
    (Limit::SQLITE_LIMIT_ATTACHED, 0),
];

/// The heap limit is for all connections together. Without `temp_store`, a large sort would fill the disk instead.
const SETTINGS: &str = "
    PRAGMA query_only = ON; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;
    PRAGMA temp_store = MEMORY; PRAGMA hard_heap_limit = 256000000;";

/// Functions that load code into the process, or take minutes for a long argument.
const FORBIDDEN: [&str; 4] = ["fts3_tokenizer", "json_patch", "jsonb_patch", "load_extension"];

/// Functions that take minutes with a long second argument. Statements can use them with one argument.
const SLOW: [&str; 4] = ["ltrim", "rtrim", "trim", "unhex"];

/// Pragmas that describe tables, and the one that full-text search uses.
const PRAGMAS: [&str; 8] = [
    "data_version",
    "foreign_key_list",
    "index_info",
    "index_list",
    "index_xinfo",
    "table_info",
    "table_list",
    "table_xinfo",
];

const ONLY_READS: &str = "this server runs one statement at a time, and only reads: write a SELECT, WITH, VALUES or EXPLAIN";

/// Opens a connection on which no statement can change the database or open another file. A running statement ends when `is_cancelled`
/// returns true.
///
/// If the database is in WAL mode, SQLite itself creates the files `-wal` and `-shm` beside it.
pub(crate) fn open(
    file: &Path,
    is_cancelled: impl Fn() -> bool + Send + 'static,
) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(file, flags)?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    // Otherwise a misspelled column in double quotes is a text.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DML, false)?;
    db.execute_batch(SETTINGS)?;
    for (limit, value) in LIMITS {
        db.set_limit(limit, value)?;
    }
    for name in SLOW {
        db.remove_function(name, 2)?;
    }
    db.progress_handler(1000, Some(is_cancelled))?;
    db.authorizer(Some(authorize))?;
    Ok(db)
}

/// Allows the actions of statements that read. The module for R*Trees also prepares statements that write, as soon as a table is used, so
/// these actions are allowed too. `prepare` rejects such statements of the model.
fn authorize(context: AuthContext<'_>) -> Authorization {
    match context.action {
        AuthAction::Function { function_name } if FORBIDDEN.contains(&function_name) => {
            Authorization::Deny
        }
        AuthAction::Pragma { pragma_name, .. } if !PRAGMAS.contains(&pragma_name) => {
            Authorization::Deny
        }
        AuthAction::Select
        | AuthAction::Read { .. }
        | AuthAction::Recursive
        | AuthAction::Function { .. }
        | AuthAction::Pragma { .. }
        | AuthAction::Insert { .. }
        | AuthAction::Update { .. }
        | AuthAction::Delete { .. } => Authorization::Allow,
        _ => Authorization::Deny,
    }
}

/// Prepares a statement of the model. Fails unless there is exactly one statement, and it only reads.
pub(crate) fn prepare<'db>(db: &'db Connection, sql: &str) -> Result<Statement<'db>> {
    // SQLite recommends this limit, too. Listing thousands of tables needs more, so it is set only now.
    db.set_limit(Limit::SQLITE_LIMIT_VDBE_OP, 25_000)?;
    let statement = db.prepare(sql).map_err(|error| explain(db, &error))?;
    let problem = match statement.column_count() {
        _ if !statement.readonly() => "the statement writes",
        0 => "there is no statement",
        _ => return Ok(statement),
    };
    Err(Error::msg(format!("{problem}: {ONLY_READS}")))
}

/// Returns SQLite's error, with advice for the model.
pub(crate) fn explain(db: &Connection, error: &rusqlite::Error) -> Error {
    let message = match error {
        // The text of this error contains the whole statement.
        rusqlite::Error::SqlInputError { msg, .. } => msg.clone(),
        rusqlite::Error::MultipleStatement => "there are several statements".to_owned(),
        other => other.to_string(),
    };
    let advice = match (error, error.sqlite_error_code()) {
        (rusqlite::Error::MultipleStatement, _)
        | (_, Some(ErrorCode::AuthorizationForStatementDenied | ErrorCode::ReadOnly)) => {
            ONLY_READS.to_owned()
        }
        (_, Some(ErrorCode::TooBig)) if message != "statement too long" => {
            format!("the limit is {MAX_LENGTH} bytes; of a large value, select only the `length`")
        }
        (_, Some(ErrorCode::OutOfMemory)) => {
            "shorten the statement, or sort and group fewer rows".to_owned()
        }
        _ => return suggest(db, &message),
    };
    Error::msg(format!("{message}: {advice}"))
}

/// Returns the error with this message of SQLite. If a table or a column is missing, the error also has the most similar names.
pub(crate) fn suggest(db: &Connection, message: &str) -> Error {
    let names = similar_names(db, message).unwrap_or_default().join(", ");
    if !names.is_empty() {
        Error::msg(format!("{message}\nDid you mean {names}?"))
    } else if message.starts_with("no such table") {
        Error::msg(format!("{message}\nThe tool `tables` lists all tables."))
    } else {
        Error::msg(message)
    }
}

fn similar_names(db: &Connection, message: &str) -> Option<Vec<String>> {
    let (kind, name) = message.strip_prefix("no such ")?.split_once(": ")?;
    let name = name.split(" - ").next()?.trim_matches('"').rsplit('.').next()?.to_lowercase();
    let tables = schema::tables(db).ok()?.into_iter();
    let known: Vec<String> = match kind {
        "table" => tables.map(|table| table.name).collect(),
        "column" => tables
            .flat_map(|table| {
                table.columns.into_iter().map(move |column| format!("{}.{column}", table.name))
            })
            .collect(),
        _ => return None,
    };
    let likeness = |known: &str| {
        let known = known.rsplit('.').next().unwrap_or_default();
        strsim::jaro_winkler(&name, &known.to_lowercase())
    };
    let mut names: Vec<_> = known.into_iter().map(|known| (likeness(&known), known)).collect();
    names.retain(|(likeness, _)| *likeness > 0.7);
    names.sort_by(|a, b| b.0.total_cmp(&a.0));
    Some(names.into_iter().take(3).map(|(_, known)| known).collect())
}
