//! Lets a model look at a SQLite database, and change nothing: `cargo run -p example-database -- --file shop.db`.
//!
//! The variable `DATABASE_FILE` may name the file instead. Each call opens a connection of its own. Calls therefore do not wait for each
//! other, and a stopped call does not affect the others. `connection.rs` has the limits of a statement.

mod connection;
mod rows;
mod schema;

use std::{
    path::{Path, PathBuf, absolute},
    time::Duration,
};

use mcp_runtime::prelude::*;
use rows::{Parameter, Rows};
use rusqlite::Connection;
use schema::{Summary, Table};
use tokio::task::spawn_blocking;

#[config]
struct Config {
    /// Database, which must exist
    #[config(file)]
    file: PathBuf,
}

/// Tables and views of the database.
#[data]
struct Tables {
    tables: Vec<Summary>,
}

#[derive(Clone)]
struct Database {
    file: PathBuf,
}

#[handlers]
impl Database {
    /// Lists the tables and views, with the names of their columns.
    #[tool(read_only, open_world = false, blocking)]
    fn tables(
        &self,
        /// A part of the name; without it all tables are listed
        name: Option<&str>,
        cancel: Cancel,
    ) -> Result<Json<Tables>> {
        let part = name.unwrap_or_default().to_lowercase();
        let mut tables = schema::tables(&self.connect(cancel)?)?;
        tables.retain(|table| table.name.to_lowercase().contains(&part));
        Ok(Json(Tables { tables }))
    }

    /// Describes a table or a view: columns, types, keys, indexes.
    #[tool(read_only, open_world = false, blocking)]
    fn describe(
        &self,
        /// Name of the table or the view
        table: &str,
        cancel: Cancel,
    ) -> Result<Json<Table>> {
        let db = self.connect(cancel)?;
        let found = schema::describe(&db, table)?;
        let missing = || connection::suggest(&db, &format!("no such table: {table}"));
        found.map(Json).ok_or_else(missing)
    }

    /// Runs one statement of SQLite that reads, and returns its rows.
    ///
    /// A statement that takes longer than 10 seconds is stopped, so use indexes (EXPLAIN QUERY PLAN shows them), and aggregate in SQL instead
    /// of reading many rows.
    #[tool(read_only, open_world = false, blocking, concurrency = 8)]
    fn query(
        &self,
        /// SELECT, WITH, VALUES or EXPLAIN; names in double quotes, texts in single quotes
        #[arg(example = "SELECT city, count(*) FROM customer WHERE age > ?1 GROUP BY city")]
        sql: &str,
        /// Values of the parameters `?1`, `?2` and so on
        #[arg(default)]
        parameters: &[Parameter],
        /// Maximum number of rows
        #[arg(default = 100, range(1..=1000))]
        limit: usize,
        cancel: Cancel,
    ) -> Result<Json<Rows>> {
        let db = self.connect(cancel)?;
        let mut statement = connection::prepare(&db, sql)?;
        let rows = Rows::read(&mut statement, parameters, limit);
        rows.map(Json).map_err(|error| connection::explain(&db, &error))
    }

    /// The statements that created the tables, views, indexes and triggers.
    #[resource("database://schema", mime_type = "application/sql", blocking)]
    fn schema(&self, cancel: Cancel) -> Result<String> {
        Ok(schema::sql(&self.connect(cancel)?)?)
    }

    /// A table or a view: columns, types, keys, indexes.
    #[resource("database://tables/{table}", mime_type = "application/json", blocking)]
    fn table(
        &self,
        #[complete(Self::names)] table: &str,
        cancel: Cancel,
    ) -> Result<Option<Json<Table>>> {
        Ok(schema::describe(&self.connect(cancel)?, table)?.map(Json))
    }

    /// Analyzes a table: its meaning, its values, and their quality.
    #[prompt(title = "Analyze a table", blocking)]
    fn analyze(
        &self,
        /// Name of the table or the view
        #[complete(Self::names)]
        table: &str,
        /// Column of most interest
        #[complete(Self::columns)]
        column: Option<&str>,
        cancel: Cancel,
    ) -> Result<(String, Embedded)> {
        let Json(description) = self.describe(table, cancel)?;
        let focus = column.map(|column| format!(", above all its column `{column}`"));
        let text = format!(
            "Analyze the table `{table}`{}. Find out what a row stands for, how many rows there are, which values are \
             frequent, missing or unlikely, and how the table relates to others. Use the tool `query`, and aggregate in SQL instead of \
             reading many rows. Give each finding with its numbers and the statement that shows them.",
            focus.unwrap_or_default()
        );
        let json = serde_json::to_string(&description)?;
        let contents = ResourceContents::text(uri(table), json).mime_type("application/json");
        Ok((text, Embedded::new(contents)))
    }

    #[completion(blocking)]
    fn names(&self, cancel: Cancel) -> Result<Vec<String>> {
        let tables = schema::tables(&self.connect(cancel)?)?;
        Ok(tables.into_iter().map(|table| table.name).collect())
    }

    #[completion(blocking)]
    fn columns(&self, table: Option<&str>, cancel: Cancel) -> Result<Vec<String>> {
        let mut tables = schema::tables(&self.connect(cancel)?)?;
        tables.retain(|known| table.is_none_or(|table| table == known.name));
        Ok(tables.into_iter().flat_map(|table| table.columns).collect())
    }
}

impl Database {
    /// Opens the database, and adds a resource for each of its tables, so that clients list them.
    fn open(file: &Path, server: &Handle) -> Result<Self> {
        let file = absolute(file)?;
        if !file.is_file() {
            return Err(Error::msg(format!("there is no file `{}`", file.display())));
        }
        let tables = connection::open(&file, || false).and_then(|db| schema::tables(&db));
        let tables = tables
            .map_err(|error| Error::msg(format!("`{}` cannot be read: {error}", file.display())))?;
        let database = Self { file };
        for table in tables {
            server.add(database.resource(table.name))?;
        }
        Ok(database)
    }

    fn resource(&self, table: String) -> Resource {
        let database = self.clone();
        Resource::new(uri(&table), table.clone()).mime_type("application/json").handler(
            move |_: Variables, context: Context| {
                let (database, table) = (database.clone(), table.clone());
                async { spawn_blocking(move || database.table(&table, context.cancel())).await? }
            },
        )
    }

    fn connect(&self, cancel: Cancel) -> Result<Connection> {
        Ok(connection::open(&self.file, move || cancel.is_cancelled())?)
    }
}

/// Returns the URI of a table. All characters with a meaning in URIs are escaped.
fn uri(table: &str) -> String {
    let mut uri = "database://tables/".to_owned();
    for byte in table.bytes() {
        match byte {
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'-' | b'.' | b'_' | b'~' => {
                uri.push(byte.into());
            }
            _ => uri += &format!("%{byte:02X}"),
        }
    }
    uri
}

fn main() -> Exit {
    server!(max_result = "1MB", instructions = "Look at the tables before you write a query.")
        .timeout(Duration::from_secs(10))
        .setup(async |config: State<Config>, server: Handle| Database::open(&config.file, &server))
        .run()
}
