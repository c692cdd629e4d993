//! Tables and columns of the database.

use mcp_runtime::prelude::*;
use rusqlite::{Connection, OptionalExtension as _};

/// A table or a view, with the names of its columns.
#[data]
pub(crate) struct Summary {
    pub(crate) name: String,
    /// `table`, `view` or `virtual`
    kind: String,
    /// Empty if SQLite cannot open the table or the view
    pub(crate) columns: Vec<String>,
}

/// A table or a view.
#[data]
pub(crate) struct Table {
    name: String,
    /// Empty if SQLite cannot open the table or the view
    columns: Vec<Column>,
    indexes: Vec<Index>,
    /// The statement that created it
    sql: String,
}

#[data]
struct Column {
    name: String,
    /// As it was declared; SQLite may store values of other types
    #[serde(rename = "type")]
    declared: String,
    not_null: bool,
    primary_key: bool,
    /// Expression of the default value
    #[serde(skip_serializing_if = "Option::is_none")]
    default: Option<String>,
    /// Column that this foreign key refers to, such as `customer.id`
    #[serde(skip_serializing_if = "Option::is_none")]
    references: Option<String>,
}

#[data]
struct Index {
    name: String,
    unique: bool,
    /// Names, separated by commas
    columns: String,
}

/// Returns all tables and views except those that SQLite keeps for itself.
pub(crate) fn tables(db: &Connection) -> rusqlite::Result<Vec<Summary>> {
    let mut found = db.prepare(
        "SELECT name, type FROM pragma_table_list
         WHERE schema = 'main' AND type <> 'shadow' AND name NOT GLOB 'sqlite_*' ORDER BY name",
    )?;
    let mut columns = db.prepare("SELECT name FROM pragma_table_xinfo(?) WHERE hidden <> 1")?;
    let tables = found.query_map([], |row| {
        let (name, kind): (String, String) = row.try_into()?;
        let names = columns.query_map([&name], |row| row.get(0)).and_then(Iterator::collect);
        Ok(Summary { name, kind, columns: names.unwrap_or_default() })
    })?;
    tables.collect()
}

/// Returns the description of a table or a view, or `None` if there is none of this name.
pub(crate) fn describe(db: &Connection, table: &str) -> rusqlite::Result<Option<Table>> {
    let found = db.query_row(
        "SELECT name, sql FROM sqlite_schema
         WHERE name = ? COLLATE NOCASE AND type IN ('table', 'view')",
        [table],
        |row| row.try_into(),
    );
    let Some((name, sql)): Option<(String, String)> = found.optional()? else { return Ok(None) };

    let mut columns = db.prepare(
        "SELECT name, type, \"notnull\", pk > 0, dflt_value,
            (SELECT \"table\" || coalesce('.' || \"to\", '')
             FROM pragma_foreign_key_list(?1) WHERE \"from\" = columns.name)
         FROM pragma_table_xinfo(?1) AS columns WHERE hidden <> 1",
    )?;
    let columns = columns.query_map([&name], |row| {
        let (name, declared, not_null, primary_key, default, references) = row.try_into()?;
        Ok(Column { name, declared, not_null, primary_key, default, references })
    });

    let mut indexes = db.prepare(
        "SELECT name, \"unique\",
            (SELECT group_concat(coalesce(name, '(expression)'), ', ')
             FROM pragma_index_info(indexes.name))
         FROM pragma_index_list(?1) AS indexes",
    )?;
    let indexes = indexes.query_map([&name], |row| {
        let (name, unique, columns) = row.try_into()?;
        Ok(Index { name, unique, columns })
    })?;

    Ok(Some(Table {
        columns: columns.and_then(Iterator::collect).unwrap_or_default(),
        indexes: indexes.collect::<Result<_, _>>()?,
        name,
        sql,
    }))
}

/// Returns the statements that created everything in the database, those of a table together.
pub(crate) fn sql(db: &Connection) -> rusqlite::Result<String> {
    let mut found = db.prepare(
        "SELECT sql || ';' FROM sqlite_schema
         WHERE sql IS NOT NULL ORDER BY tbl_name, type NOT IN ('table', 'view'), name",
    )?;
    let statements = found.query_map([], |row| row.get(0))?;
    Ok(statements.collect::<Result<Vec<String>, _>>()?.join("\n"))
}
