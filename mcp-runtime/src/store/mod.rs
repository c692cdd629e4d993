//! Store in a SQLite file, in which tasks outlast the process.

mod advice;
mod file;
#[cfg(feature = "auth-server")]
mod ledger;
mod sqlite;
#[cfg(test)]
mod tests;

pub use sqlite::SqliteTasks;
