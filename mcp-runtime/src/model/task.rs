use std::{fmt, sync::Arc, time::Duration};

use super::{Instant, Question, ToolResult};
use crate::error::Error;

/// Whether calls of a tool may go on after their answer, as tasks (tasks of 2025-11-25, and the extension of 2026-07-28).
///
/// `#[tool(task)]` says it in an attribute; a tool made by value takes it with [`Tool::task`](crate::Tool::task).
///
/// ```
/// use std::time::Duration;
///
/// use mcp_runtime::{TaskSupport, prelude::*};
///
/// let tool = Tool::new("report")
///     .task(TaskSupport::new().required().ttl(Duration::from_secs(3600)))
///     .handler(async |_: Context| "done");
/// # let _ = tool;
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaskSupport {
    pub(crate) required: bool,
    pub(crate) later: bool,
    pub(crate) ttl: Option<Duration>,
    pub(crate) poll: Option<Duration>,
}

impl TaskSupport {
    /// A call may be a task, when its client can look after one.
    pub const fn new() -> Self {
        Self { required: false, later: false, ttl: None, poll: None }
    }

    /// Clients that cannot look after a task are refused.
    #[must_use]
    pub const fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// The call is one like any other until the handler says [`begin_task`](crate::Context::begin_task): what it asks before
    /// is asked in the call.
    #[must_use]
    pub const fn later(mut self) -> Self {
        self.later = true;
        self
    }

    /// How long a task is kept, from when it was made; clients may ask for less. [`Limits::task_ttl`](crate::Limits::task_ttl)
    /// otherwise.
    #[must_use]
    pub const fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = Some(ttl);
        self
    }

    /// How often clients are told to look. [`Limits::task_poll`](crate::Limits::task_poll) otherwise.
    #[must_use]
    pub const fn poll(mut self, poll: Duration) -> Self {
        self.poll = Some(poll);
        self
    }
}

/// A task as it is at one moment, in no revision's words.
#[derive(Clone, Debug)]
pub struct TaskView {
    pub(crate) id: Arc<str>,
    pub(crate) message: Option<Arc<str>>,
    pub(crate) created: Instant,
    pub(crate) updated: Instant,
    /// From when it was created.
    pub(crate) ttl: Option<Duration>,
    pub(crate) poll: Duration,
    pub(crate) state: TaskState,
}

/// How far a task has come.
#[derive(Clone)]
pub(crate) enum TaskState {
    Working,
    /// It waits for these answers.
    InputRequired(Vec<(Box<str>, Question)>),
    Ended(Arc<TaskEnd>),
}

/// What a task ended with.
#[derive(Debug)]
pub(crate) enum TaskEnd {
    Result(ToolResult),
    Error(Error),
    Cancelled,
}

impl fmt::Debug for TaskState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Working => "Working",
            Self::InputRequired(_) => "InputRequired",
            Self::Ended(_) => "Ended",
        })
    }
}

/// What a client is told of tasks.
#[derive(Debug)]
pub enum TaskAnswer {
    /// The call goes on as this task.
    Created(TaskView),
    /// How far it has come.
    Got(TaskView),
    /// What it ended with, to a client that waited for that.
    Result(TaskView),
    /// The client's word has been taken.
    Acknowledged,
    /// Some of the client's tasks, and where the next page begins.
    Listed { tasks: Vec<TaskView>, next: Option<String> },
}
