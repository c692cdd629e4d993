//! Tasks: calls that go on after their response.
//!
//! A task runs in this process as a [`LiveTask`], which knows its questions and its status. The part that must outlast the process is put into
//! a [`TaskStore`] when the task begins and when it ends. Nothing here knows a protocol revision: the two dialects of tasks are in
//! `protocol/tasks`.

mod begin;
mod id;
mod kept;
mod live;
mod memory;
mod recover;
mod result;
mod store;
mod tasks;
mod viewer;
mod way;

pub(crate) use live::{LiveTask, Waiter};
pub use memory::MemoryTasks;
pub(crate) use store::no_room;
pub use store::{BoxFuture, TaskRecord, TaskStore};
pub(crate) use tasks::{NewTask, TaskAnswers, Tasks};
pub(crate) use viewer::Viewer;
pub(crate) use way::TaskRoute;
