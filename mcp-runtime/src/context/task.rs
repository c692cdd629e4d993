use std::{
    future::{Future, poll_fn},
    pin::{Pin, pin},
    task::Poll,
};

use super::{Context, once::waits_for_an_answer};

/// Waits until a task has begun.
pub(crate) type Beginning = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A call that may become a task.
pub(crate) trait TaskBegin: Send + Sync {
    fn begin_task(&self) -> Beginning;

    fn has_begun(&self) -> bool;
}

impl Context {
    /// Whether the call has become one.
    pub(crate) fn is_task(&self) -> bool {
        self.0.caller.task.as_ref().is_some_and(|it| it.has_begun())
    }

    /// Ends the call here, and goes on as a task of its client's: for tools with `task(later)`, which first ask what they need
    /// to know and then take their time.
    ///
    /// ```
    /// use mcp_runtime::prelude::*;
    ///
    /// /// Which report.
    /// #[form]
    /// struct Report {
    ///     year: u16,
    /// }
    ///
    /// /// Writes a report.
    /// #[tool(task(later), asks(elicitation))]
    /// async fn report(ctx: &Context) -> Result<String> {
    ///     let Report { year } = ctx.elicit("report", "Which year?").await?;
    ///     ctx.begin_task().await;
    ///     tokio::time::sleep(std::time::Duration::from_secs(600)).await;
    ///     Ok(format!("what happened in {year}"))
    /// }
    /// # fn main() {}
    /// ```
    ///
    /// Returns at once where the call has become a task already, or cannot be one: handlers need not know. In 2025-11-25 it is the
    /// client who decides that a call is a task, and it is one from the start; what it asks is asked as a task.
    pub async fn begin_task(&self) {
        let Some(task) = &self.0.caller.task else { return };
        let mut end = pin!(self.ended());
        if self.is_over() || self.is_cancelled() {
            return;
        }
        let mut beginning = task.begin_task();
        // Whoever runs the handler must see that it wants to be a task.
        self.wake();
        poll_fn(|cx| match beginning.as_mut().poll(cx) {
            Poll::Pending => {
                // A question that is open goes first, and a `once` around this waits for its answer.
                waits_for_an_answer();
                end.as_mut().poll(cx)
            }
            ready => ready,
        })
        .await;
    }
}
