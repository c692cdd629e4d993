//! Traits through which a running call reaches its client.
//!
//! Higher layers implement these traits, so that the code below `dispatch` does not depend on a protocol.

use std::time::Duration;

use crate::{
    error::{Error, Result},
    model::{Level, NeedInput, Question},
};

use futures_core::future::BoxFuture;

/// Channel to the client while a call runs. The module `protocol` implements it for its protocol revisions.
pub(crate) trait Channel: Send + Sync {
    /// Ends the response stream of the call early, if the client can reconnect after `retry` to get the rest.
    #[cfg_attr(not(feature = "http"), allow(dead_code, reason = "only HTTP has streams"))]
    fn release(&self, retry: Duration);
    /// Sends a progress report. The calling code has checked that the progress is greater than in the last report.
    fn progress(&self, report: ProgressReport);
    /// Sends a log event. `data` is JSON text.
    #[cfg_attr(
        not(feature = "client-log"),
        allow(dead_code, reason = "only `client_log()` sends any")
    )]
    fn log(&self, level: Level, logger: &str, data: &str);
}

/// Content of a `notifications/progress`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ProgressReport {
    pub(crate) progress: f64,
    pub(crate) total: Option<f64>,
    pub(crate) message: Option<String>,
}

/// Future of the answer to a question: the client's result as JSON text.
pub(crate) type AnswerFuture = BoxFuture<'static, Result<Box<str>>>;

/// Future that a call waits for before its handler runs, because a shared store decides whether the call may run. It fails if the call must
/// not run again.
pub(crate) type BeginFuture = BoxFuture<'static, Result<()>>;

/// Asks the client the questions of one call. Some implementations send a request that the client answers during the call. Others end the
/// call, and the client repeats the call with the answer.
pub(crate) trait Asker: Send + Sync {
    /// Asks a question. The future never resolves if the question ends the call.
    fn ask(&self, key: &str, question: Question) -> AnswerFuture;

    /// Returns the value that an earlier round of the call has stored under this key, as JSON text.
    fn done(&self, key: &str) -> Option<Box<str>>;

    /// Stores a value for later rounds.
    fn set_done(&self, key: &str, json: Box<str>);

    /// Keeps the round open until `release` is called, so that the value of running work can still be stored. Does nothing if calls have no
    /// rounds.
    fn hold(&self) {}

    /// Ends a `hold`. Called when its work has finished or was dropped.
    fn release(&self) {}

    /// Records that the call cannot continue in another round.
    fn fail(&self, error: Error);

    /// Records that the call was accepted and runs now.
    ///
    /// # Errors
    /// Fails if the call must not run again.
    fn begin(&self) -> Result<(), Error>;

    /// Returns a future that has to succeed before the handler runs. Returns `None` if no shared store has to be asked. Called after
    /// [`begin`](Self::begin).
    fn beginning(&self) -> Option<BeginFuture> {
        None
    }

    /// Returns the questions that the client must answer before the handler can continue, if there are any.
    ///
    /// # Errors
    /// Fails if the client cannot be asked.
    fn need_input(&self) -> Result<Option<NeedInput>, Error>;

    /// Returns whether the call continues with answers from its client. Its result then belongs to that client alone (rule MRTR-10).
    fn is_resumed(&self) -> bool;

    /// Returns whether the call may be waiting for the user's answer to a question. The timeout of the handler is paused meanwhile.
    fn is_waiting(&self) -> bool;
}

/// Future that waits until a task has begun.
pub(crate) type TaskBeginning = BoxFuture<'static, ()>;

/// A call that may become a task.
pub(crate) trait TaskBegin: Send + Sync {
    fn begin_task(&self) -> TaskBeginning;

    fn has_begun(&self) -> bool;
}
