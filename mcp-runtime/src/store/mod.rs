//! Where tasks outlast the process.

mod file;
mod sqlite;
#[cfg(test)]
mod tests;

pub use sqlite::SqliteTasks;
