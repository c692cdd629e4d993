//! Tasks, independent of the protocol revision, and the timestamps in them.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use super::{Question, ToolResult};
use crate::error::Error;

/// Settings of a tool whose calls can run as tasks (tasks of 2025-11-25, and the tasks extension of 2026-07-28). A task continues after the
/// response to its call.
///
/// Set it with `#[tool(task)]`, or with [`Tool::task`](crate::Tool::task) for a tool that is created at run time.
/// [`Builder::store`](crate::Builder::store) sets where tasks are kept.
///
/// ```
/// use std::time::Duration;
///
/// use mcp_runtime::{prelude::*, tasks::TaskSupport};
///
/// let tool = Tool::new("report")
///     .task(TaskSupport::new().required().ttl(Duration::from_secs(3600)))
///     .handler(async |_: Context| "done");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaskSupport {
    pub(crate) required: bool,
    pub(crate) later: bool,
    pub(crate) ttl: Option<Duration>,
    pub(crate) poll: Option<Duration>,
}

impl TaskSupport {
    /// Creates the default support: a call runs as a task if its client supports tasks and, under 2025-11-25, requests one.
    pub const fn new() -> Self {
        Self { required: false, later: false, ttl: None, poll: None }
    }

    /// Rejects calls that cannot run as tasks, because the client does not support tasks or, under 2025-11-25, does not request one.
    #[must_use]
    pub const fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// Runs the call like any other call until the handler calls [`begin_task`](crate::Context::begin_task). Elicitation and sampling requests
    /// before that belong to the call, not to the task. Under 2025-11-25, a call that requests a task is a task from its beginning.
    #[must_use]
    pub const fn later(mut self) -> Self {
        self.later = true;
        self
    }

    /// Sets how long a task is kept after its creation. Clients may request a shorter time. Default:
    /// [`Limits::task_ttl`](crate::limits::Limits::task_ttl).
    #[must_use]
    pub const fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = Some(ttl);
        self
    }

    /// Sets the interval at which the server asks clients to poll. Default: [`Limits::task_poll`](crate::limits::Limits::task_poll).
    #[must_use]
    pub const fn poll(mut self, poll: Duration) -> Self {
        self.poll = Some(poll);
        self
    }
}

/// Snapshot of a task, independent of the protocol revision.
#[derive(Clone, Debug)]
pub struct TaskView {
    pub(crate) id: Arc<str>,
    pub(crate) message: Option<Arc<str>>,
    pub(crate) created: Timestamp,
    pub(crate) updated: Timestamp,
    /// Time for which the task is kept, counted from `created`.
    pub(crate) ttl: Option<Duration>,
    pub(crate) poll: Duration,
    /// Version of the task in a store that several nodes share. Zero if the store is not shared.
    pub(crate) version: u64,
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
    /// The current state of a task.
    Got(TaskView),
    /// The ended task, for a client that waited for its end.
    Result(TaskView),
    /// The update or cancellation has been accepted.
    Acknowledged,
    /// The tasks of a listen stream have been found, and the stream is open. This needs no response.
    Listening,
    /// A page of the client's tasks, and the cursor of the next page.
    Listed { tasks: Vec<TaskView>, next: Option<String> },
}

/// Point in time in milliseconds since 1970, for times that are stored or sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Timestamp(pub(crate) u64);

impl Timestamp {
    pub(crate) fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(millis(since))
    }

    pub(crate) fn after(self, time: Duration) -> Self {
        Self(self.0.saturating_add(millis(time)))
    }

    /// Returns the time until this point, or zero if it has passed.
    pub(crate) fn remaining(self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(Self::now().0))
    }
}

pub(crate) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

impl fmt::Display for Timestamp {
    /// Writes the time in ISO 8601, in UTC.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, millis) = (self.0 / 1000, self.0 % 1000);
        let (day, second) = (seconds / 86_400, seconds % 86_400);
        let (year, month, day) = date(day);
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
    }
}

/// Converts a number of days since 1970-01-01 to year, month and day. The calculation lets a year begin in March, so that the leap day is
/// the last day of a year.
fn date(day: u64) -> (u64, u64, u64) {
    const ERA: u64 = 146_097;
    let day = day + 719_468;
    let (era, day) = (day / ERA, day % ERA);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_as_iso_8601() {
        let check = |millis, expected: &str| assert_eq!(Timestamp(millis).to_string(), expected);
        check(0, "1970-01-01T00:00:00.000Z");
        check(951_782_399_999, "2000-02-28T23:59:59.999Z");
        check(951_782_400_000, "2000-02-29T00:00:00.000Z");
        check(951_868_800_000, "2000-03-01T00:00:00.000Z");
        check(1_735_689_599_001, "2024-12-31T23:59:59.001Z");
        check(1_735_689_600_000, "2025-01-01T00:00:00.000Z");
        check(4_107_542_400_000, "2100-03-01T00:00:00.000Z");
    }
}
