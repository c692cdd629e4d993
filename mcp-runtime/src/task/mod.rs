//! Tasks: calls that continue after their response.
//!
//! A task runs in this process as a [`LiveTask`], which contains the questions and the status. The data that must outlast the process is
//! written to a [store](crate::store) when the task begins and when it ends. If several nodes share the store, each change is written, and the
//! nodes send each other messages (decision 0106). This module does not depend on protocol revisions: the two dialects of
//! tasks are in `protocol/tasks.rs`.

mod elsewhere;
mod live;
mod local_waiter;
mod message;
mod record;
mod run;
mod shared;
mod stored_tasks;
mod task_node;
mod tasks;
mod waiter;

pub(crate) use live::LiveTask;
pub(crate) use record::QuestionWriter;
#[cfg(feature = "http")]
pub(crate) use record::{read_client, write_client};
pub(crate) use run::{TaskRoute, follow, recover};
pub(crate) use shared::share;
pub(crate) use tasks::{NewTask, TaskAnswers, Tasks, Viewer};
pub(crate) use waiter::{TaskWait, TaskWaiter};
