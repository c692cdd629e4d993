use std::{fmt, sync::Arc, time::Duration};

use super::{Question, Timestamp, ToolResult};
use crate::error::Error;

/// Whether calls of a tool may run as tasks, which go on after the response (tasks of 2025-11-25, and the extension of 2026-07-28).
///
/// Set it with `#[tool(task)]`, or with [`Tool::task`](crate::Tool::task) for a tool made by value.
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
    /// Lets a call run as a task if its client supports tasks.
    pub const fn new() -> Self {
        Self { required: false, later: false, ttl: None, poll: None }
    }

    /// Rejects calls of clients that do not support tasks.
    #[must_use]
    pub const fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// Runs the call like any other until the handler calls [`begin_task`](crate::Context::begin_task). Questions before that are asked
    /// within the call.
    #[must_use]
    pub const fn later(mut self) -> Self {
        self.later = true;
        self
    }

    /// Sets how long a task is kept after it was created. Clients may ask for less. The default is
    /// [`Limits::task_ttl`](crate::Limits::task_ttl).
    #[must_use]
    pub const fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = Some(ttl);
        self
    }

    /// Sets how often clients are told to poll. The default is [`Limits::task_poll`](crate::Limits::task_poll).
    #[must_use]
    pub const fn poll(mut self, poll: Duration) -> Self {
        self.poll = Some(poll);
        self
    }
}

/// State of a task at one moment, independent of the protocol revision.
#[derive(Clone, Debug)]
pub struct TaskView {
    pub(crate) id: Arc<str>,
    pub(crate) message: Option<Arc<str>>,
    pub(crate) created: Timestamp,
    pub(crate) updated: Timestamp,
    /// Time for which the task is kept, counted from `created`.
    pub(crate) ttl: Option<Duration>,
    pub(crate) poll: Duration,
    pub(crate) state: TaskState,
}

/// Progress of a task.
#[derive(Clone)]
pub(crate) enum TaskState {
    Working,
    /// The task waits for answers to these questions.
    InputRequired(Vec<(Box<str>, Question)>),
    Ended(Arc<TaskEnd>),
}

/// End of a task.
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

/// Response to a request about tasks.
#[derive(Debug)]
pub enum TaskAnswer {
    /// The call continues as this task.
    Created(TaskView),
    /// The present state of a task.
    Got(TaskView),
    /// The end of a task, for a client that waited for it.
    Result(TaskView),
    /// The update or cancellation has been accepted.
    Acknowledged,
    /// A page of the client's tasks, and the cursor of the next page.
    Listed { tasks: Vec<TaskView>, next: Option<String> },
}
