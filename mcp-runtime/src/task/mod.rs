//! Tasks: calls that continue after their response.
//!
//! A task runs in this process as a [`LiveTask`], which contains the questions and the status. The data that must outlast the process is
//! written to a [`TaskStore`] when the task begins and when it ends. This module does not depend on protocol revisions: the two dialects of
//! tasks are in `protocol/tasks.rs`.

mod live;
mod memory;
mod record;
mod run;
mod store;
mod tasks;

pub(crate) use live::{LiveTask, Waiter};
pub use memory::MemoryTasks;
pub(crate) use run::{TaskRoute, follow, recover};
#[cfg(feature = "sqlite")]
pub(crate) use store::no_room;
pub use store::{BoxFuture, TaskRecord, TaskStore};
pub(crate) use tasks::{NewTask, TaskAnswers, Tasks, Viewer};
