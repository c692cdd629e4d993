//! Store in a SQLite file, which preserves tasks and logins across restarts of the process.

mod advice;
mod sqlite;
#[cfg(test)]
mod tests;

pub use sqlite::SqliteStore;
