use std::{
    future::{Future, poll_fn},
    pin::{Pin, pin},
    task::Poll,
};

use super::{Context, once::waits_for_an_answer};

/// Future that waits until a task has begun.
pub(crate) type Beginning = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A call that may become a task.
pub(crate) trait TaskBegin: Send + Sync {
    fn begin_task(&self) -> Beginning;

    fn has_begun(&self) -> bool;
}

impl Context {
    /// Returns whether the call has become a task.
    pub(crate) fn is_task(&self) -> bool {
        self.0.caller.task.as_ref().is_some_and(|it| it.has_begun())
    }

    /// Ends the call and continues as a task of the client. It is for tools with `task(later)`, which first ask their questions and then
    /// run for long.
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
    /// Returns at once if the call is a task already or cannot become one, so handlers need not check. Under protocol revision 2025-11-25
    /// the client decides whether a call is a task. It is then a task from the start, and its questions are those of a task.
    pub async fn begin_task(&self) {
        let Some(task) = &self.0.caller.task else { return };
        let mut end = pin!(self.ended());
        if self.is_over() || self.is_cancelled() {
            return;
        }
        let mut beginning = task.begin_task();
        // The task that runs the handler must see that the call wants to become a task.
        self.wake();
        poll_fn(|cx| match beginning.as_mut().poll(cx) {
            Poll::Pending => {
                // An open question is asked first. An enclosing `once` counts as waiting for its answer, so that the round can end.
                waits_for_an_answer();
                end.as_mut().poll(cx)
            }
            ready => ready,
        })
        .await;
    }
}
