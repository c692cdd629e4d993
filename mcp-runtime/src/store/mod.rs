//! Store in a SQLite file, in which tasks and logins outlast the process.

mod advice;
mod sqlite;
#[cfg(test)]
mod tests;

pub use sqlite::SqliteStore;
