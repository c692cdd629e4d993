//! Work that outlasts one round of its call. Work in `once` runs once for all rounds, and `begin_task` continues the handler as a task.

use std::{
    cell::Cell,
    future::{Future, poll_fn},
    pin::pin,
    sync::{Arc, MutexGuard, PoisonError},
    task::Poll,
};

use serde::{Serialize, de::DeserializeOwned};

use super::{Asker, Context, call_context::Onces};
use crate::error::Error;

thread_local! {
    /// Whether the future being polled is waiting for an answer.
    static ASKS: Cell<bool> = const { Cell::new(false) };
}

/// Records that the future being polled is waiting for an answer.
pub(super) fn waits_for_an_answer() {
    ASKS.set(true);
}

/// Guard that keeps the round from ending until the guard is dropped.
struct RoundHold {
    asker: Arc<dyn Asker>,
    context: Context,
}

impl RoundHold {
    fn new(asker: &Arc<dyn Asker>, context: &Context) -> Self {
        asker.hold();
        Self { asker: asker.clone(), context: context.clone() }
    }
}

impl Drop for RoundHold {
    fn drop(&mut self) {
        self.asker.release();
        // The work may have run in a different tokio task. Waking the handler's tokio task makes it check whether the round ends now.
        self.context.wake();
    }
}

/// Work that runs once, although the function may run several times.
impl Context {
    /// Runs `work` at most once in a call, even if the function runs again.
    ///
    /// Under protocol revision 2026-07-28 a question ends the call, and the function runs again with the answer. Use this method for work
    /// before a question that must not be repeated, such as a payment. A later round gets the value of the first run. Failed work runs
    /// again. Under earlier revisions, the function runs only once anyway.
    ///
    /// If a question is open while the work runs, the server sends the question when the work is done. Work that itself waits for an answer
    /// is an exception: it is dropped at the end of the round, and starts again in the next round. The server recognizes such work only if
    /// the question is asked in the tokio task that runs the work. If a different tokio task asks the question, or if the work waits for an
    /// event that only happens after an answer, the call waits until its timeout.
    ///
    /// The error of `work` may have any type. If `work` uses `?` and nothing else tells the compiler the type of the error, give the closure a
    /// return type: `async || -> Result<Plan> { … }`.
    ///
    /// The value must survive a round trip through JSON. Otherwise the call ends with an internal error, before the client is asked.
    ///
    /// The key names the work within the call, like the key of a question. Two uses of a key in one call are an internal error. If a
    /// client sends a round twice, the work after that round runs twice, unless the item is `single_use`.
    ///
    /// Between two rounds the server keeps the value in its process. With `Builder::state_key` (feature `state-key`), or if servers share a
    /// [store](crate::Builder::store), it sends the sealed value to the client instead. The value is lost after
    /// [`Builder::state_lifetime`](crate::Builder::state_lifetime) (default: 15 minutes). All values and answers of a call together may
    /// have at most [`Limits::state`](crate::limits::Limits::state) bytes (default: 64 KiB).
    ///
    /// ```
    /// use mcp_runtime::prelude::*;
    ///
    /// /// Permission of the user.
    /// #[form]
    /// struct Consent {
    ///     deploy: bool,
    /// }
    ///
    /// async fn make_plan(env: &str) -> Result<String> {
    ///     Ok(format!("deploy version 7 to {env}"))
    /// }
    ///
    /// /// Makes a plan, and carries it out if the user agrees.
    /// #[tool(asks(elicitation))]
    /// async fn deploy(ctx: &Context, env: String) -> Result<String> {
    ///     let plan = ctx.once("plan", async || make_plan(&env).await).await?;
    ///     let consent: Consent = ctx.elicit("consent", format!("Do this? {plan}")).await?;
    ///     Ok(format!("{}", consent.deploy))
    /// }
    /// # fn main() {}
    /// ```
    ///
    /// # Errors
    /// Returns the error of `work`.
    ///
    /// # Cancel safety
    /// Not cancel safe: if the future is dropped, the work is dropped as well, and runs again in the next use of the key.
    pub async fn once<T, E, F>(&self, key: impl Into<String>, work: F) -> Result<T, E>
    where
        T: Serialize + DeserializeOwned,
        F: AsyncFnOnce() -> Result<T, E>,
    {
        let key = key.into();
        let asker = self.0.caller.asker.as_ref();
        let done = asker.and_then(|asker| asker.done(&key));
        if let Some(done) = done.and_then(|json| serde_json::from_str(&json).ok()) {
            self.use_once(&key);
            return Ok(done);
        }
        let mut hold = asker.map(|asker| RoundHold::new(asker, self));
        let mut work = pin!(work());
        let value = poll_fn(|cx| {
            let outer = ASKS.replace(false);
            let polled = work.as_mut().poll(cx);
            if polled.is_pending() && ASKS.get() {
                hold = None;
            }
            // If this work waits for an answer, so does an enclosing `once`.
            ASKS.set(ASKS.get() && polled.is_pending() || outer);
            polled
        })
        .await?;
        self.use_once(&key);
        if let Some(asker) = asker {
            let json = serde_json::to_string(&value);
            // Checks before the client is asked that the value can be read back. Otherwise the next round would have to repeat the work.
            let kept = json.and_then(|json| serde_json::from_str::<T>(&json).map(|_| json));
            match kept {
                Ok(json) => asker.set_done(&key, json.into()),
                Err(error) => asker.fail(Error::internal(format!(
                    "the value of `once(\"{key}\")` cannot be stored: {error}"
                ))),
            }
        }
        drop(hold);
        Ok(value)
    }

    /// Records a use of a key. A second use is an error under every protocol revision, even if no value is stored.
    fn use_once(&self, key: &str) {
        let mut onces = self.onces();
        if !onces.keys.insert(key.into()) {
            onces.misuse.get_or_insert_with(|| {
                self.fault(format_args!(
                    "`once(\"{key}\")` is used twice in one call: give each its own key, such as `format!(\"{key}-{{i}}\")` in a loop"
                ))
            });
        }
    }

    fn onces(&self) -> MutexGuard<'_, Onces> {
        let onces = self.0.onces.get_or_init(Box::default);
        onces.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the error about a wrong use of `once`, which replaces the result of the handler.
    pub(crate) fn misuse(&self) -> Option<Error> {
        self.0.onces.get()?;
        self.onces().misuse.take()
    }
}

/// Calls that continue as tasks.
impl Context {
    /// Returns whether the call has become a task.
    pub(crate) fn is_task(&self) -> bool {
        self.0.caller.task.as_ref().is_some_and(|task| task.has_begun())
    }

    /// Ends the call, and continues the handler as a task.
    ///
    /// Use it in tools with the key `task(later)`, which first ask their questions and then run for a long time. A tool that runs for a
    /// long time from the start needs only the key `task`.
    ///
    /// ```
    /// use mcp_runtime::prelude::*;
    ///
    /// /// Report to write.
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
    /// Returns at once if the call is already a task or cannot become one, so handlers need not check. Under protocol revision 2025-11-25
    /// the client decides whether a call is a task. Such a call is a task from the start, and asks its questions as a task.
    ///
    /// Specification: Base protocol, Tasks.
    ///
    /// # Cancel safety
    /// Cancel safe. If the future is dropped after its first poll, the call becomes a task when the handler next waits.
    pub async fn begin_task(&self) {
        let Some(task) = &self.0.caller.task else { return };
        let mut end = pin!(self.ended());
        if self.is_over() || self.is_cancelled() {
            return;
        }
        let mut beginning = task.begin_task();
        // Wakes the tokio task that runs the handler, because that tokio task turns the call into an MCP task.
        self.wake();
        poll_fn(|cx| match beginning.as_mut().poll(cx) {
            Poll::Pending => {
                // Open questions are asked first. An enclosing `once` counts as waiting for an answer, so that the round can end.
                waits_for_an_answer();
                end.as_mut().poll(cx)
            }
            ready => ready,
        })
        .await;
    }
}
