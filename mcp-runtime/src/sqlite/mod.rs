//! Store in a SQLite file, which outlasts the process.

mod advice;
mod operations;
mod sqlite_store;
#[cfg(test)]
mod tests;

pub use sqlite_store::SqliteStore;
