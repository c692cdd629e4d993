//! Operations that have been started, and are either finished or pending. A pending call can time out, and can be cancelled.

use std::{
    any::Any,
    fmt,
    future::Future,
    pin::{Pin, pin},
    sync::Arc,
    task::{self, Poll},
    time::{Duration, Instant},
};

use futures_core::future::BoxFuture;
use tokio::{task::unconstrained, time::Sleep};

use super::{
    activity::Entered,
    answer::{CallSettings, around_panic_error, finish_answer, panic_answer, timeout_answer},
};
use crate::{
    call::context::Context,
    catalog::Entry,
    error::{Error, ErrorKind},
    limits::Reservation,
    model::{Done, OperationResult},
    unwind::{self, Panicked},
};

/// Answer of an operation, or a future that resolves to the answer.
pub(crate) enum Dispatched {
    Ready(OperationResult),
    Pending(PendingHandler),
}

impl Dispatched {
    /// Holds the reservation until the call is done.
    pub(crate) fn holding(mut self, reservation: Reservation) -> Self {
        if let Self::Pending(pending) = &mut self
            && !reservation.is_empty()
        {
            pending.hold(reservation);
        }
        self
    }

    pub(super) fn failed(kind: ErrorKind, message: impl std::fmt::Display) -> Self {
        Self::Ready(Err(Error::of(kind, message)))
    }
}

/// Future of a handler that has to wait. Resolves to `None` if the call was cancelled, because a cancelled call gets no response.
///
/// Dropping a `PendingHandler` drops the future of the handler and signals the cancellation to blocking code.
pub(crate) struct PendingHandler {
    future: BoxFuture<'static, OperationResult>,
    entry: Option<Arc<Entry>>,
    context: Context,
    timeout: Option<Duration>,
    /// Remaining part of the timeout, updated whenever the timeout is paused.
    left: Option<Duration>,
    sleep: Option<Pin<Box<Sleep>>>,
    settings: CallSettings,
    /// Reservation that is held until the call ends or is cancelled.
    reservation: Option<Arc<Reservation>>,
    done: bool,
}

impl PendingHandler {
    pub(super) fn new(
        future: BoxFuture<'static, OperationResult>,
        entry: Arc<Entry>,
        context: Context,
        timeout: Option<Duration>,
        settings: CallSettings,
    ) -> Self {
        Self {
            future,
            entry: Some(entry),
            context,
            timeout,
            left: timeout,
            sleep: None,
            settings,
            reservation: None,
            done: false,
        }
    }

    /// Wraps a future that belongs to no item and has no timeout.
    pub(crate) fn bare(
        future: BoxFuture<'static, OperationResult>,
        context: Context,
        settings: CallSettings,
    ) -> Self {
        Self {
            future,
            entry: None,
            context,
            timeout: None,
            left: None,
            sleep: None,
            settings,
            reservation: None,
            done: false,
        }
    }

    pub(crate) fn context(&self) -> &Context {
        &self.context
    }

    pub(crate) fn hold(&mut self, reservation: Reservation) {
        let reservation = Arc::new(reservation);
        let shared: Arc<dyn Any + Send + Sync> = reservation.clone();
        self.context.set_reservation(Arc::downgrade(&shared));
        self.reservation = Some(reservation);
    }

    /// Whether the call runs as an MCP task and its item sets no timeout. The server-wide timeout does not apply to such a call.
    fn may_take_long(&self) -> bool {
        self.context.is_task() && self.entry.as_ref().is_some_and(|entry| entry.timeout.is_none())
    }

    fn end(&mut self, answer: OperationResult) -> Poll<Option<OperationResult>> {
        let misuse = self.entry.as_ref().and_then(|_| self.context.misuse());
        let answer = misuse.map_or(answer, Err);
        self.done = true;
        self.reservation = None;
        self.context.close();
        if matches!(answer, Ok(Done::NeedInput(_))) {
            // Cancels work that the handler has moved to tokio tasks or threads, because the next round starts the handler again.
            self.context.set_cancelled();
        }
        let answer = match &self.entry {
            Some(entry) => {
                let (context, settings) = (&self.context, &self.settings);
                finish_answer(settings, entry, context.is_resumed(), context.uri(), answer)
            }
            None => answer,
        };
        Poll::Ready(Some(answer))
    }
}

impl Future for PendingHandler {
    type Output = Option<OperationResult>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<Option<OperationResult>> {
        let this = &mut *self;
        this.context.watch_cancel(cx.waker());
        if this.context.is_cancelled() {
            this.done = true;
            this.reservation = None;
            this.context.close();
            return Poll::Ready(None);
        }
        let polled = {
            let _scope = crate::call::context::enter(&this.context);
            let _entered = this.entry.as_ref().map(Entered::new);
            unwind::catch(|| {
                let _watch = this.entry.as_ref().and_then(|entry| SlowPollWarning::start(entry));
                this.future.as_mut().poll(cx)
            })
        };
        match polled {
            Ok(Poll::Ready(answer)) => return this.end(answer),
            Ok(Poll::Pending) => {
                // If the handler waits for the answers to elicitation or sampling requests, the round ends here: the future is dropped with
                // all other unfinished work, and the next round starts the handler again. The round does not end while work passed to
                // `Context::once` is running.
                match this.context.need_input() {
                    Ok(None) => {}
                    Ok(Some(input)) => return this.end(Ok(Done::NeedInput(input))),
                    Err(error) => return this.end(Err(error)),
                }
            }
            Err(Panicked) => {
                let answer = match &this.entry {
                    Some(entry) => panic_answer(entry),
                    None => Err(around_panic_error()),
                };
                return this.end(answer);
            }
        }
        // The timeout is paused while the call waits for the user's answer, and while the call runs as an MCP task whose item sets no
        // timeout. After a pause, the timer restarts with the remaining time.
        if this.context.is_waiting() || this.may_take_long() {
            if let (Some(sleep), Some(left)) = (this.sleep.take(), &mut this.left) {
                *left = sleep.deadline().saturating_duration_since(tokio::time::Instant::now());
            }
        } else if let (Some(timeout), Some(left)) = (this.timeout, this.left) {
            let sleep = this.sleep.get_or_insert_with(|| Box::pin(tokio::time::sleep(left)));
            // A handler that never waits uses up tokio's cooperative budget in each poll. The timer would then return `Pending` even after
            // its deadline, so `unconstrained` exempts it from the budget.
            if pin!(unconstrained(sleep.as_mut())).poll(cx).is_ready() {
                // Signals the timeout to blocking code. An async handler ends when its future is dropped with `self`.
                this.context.set_cancelled();
                let answer = this.entry.as_ref().map_or_else(
                    || Err(Error::msg("timed out")),
                    |entry| timeout_answer(entry, timeout),
                );
                return this.end(answer);
            }
        }
        Poll::Pending
    }
}

impl Drop for PendingHandler {
    fn drop(&mut self) {
        if !self.done {
            self.context.set_cancelled();
            self.context.close();
        }
        // Dropping the future may run code of the author, which may panic. Catches the panic, because the call is over and the panic must
        // not affect other code.
        let nothing = Box::pin(std::future::pending());
        unwind::discard(std::mem::replace(&mut self.future, nothing));
    }
}

impl fmt::Debug for PendingHandler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingHandler")
            .field("entry", &self.entry.as_ref().map(|entry| &entry.name))
            .finish_non_exhaustive()
    }
}

/// Guard around one poll of a handler. In debug builds, it logs a warning if the poll took long, because a long poll delays other calls:
/// over stdio, one thread runs all handlers.
///
/// A poll that panics gets no warning. The time may have passed in the panic hook, which takes seconds to print a backtrace. For this reason
/// the guard has to be dropped while the thread unwinds.
pub(super) struct SlowPollWarning<'a> {
    entry: &'a Entry,
    since: Instant,
}

impl<'a> SlowPollWarning<'a> {
    const LONG: Duration = Duration::from_millis(100);

    pub(super) fn start(entry: &'a Entry) -> Option<Self> {
        cfg!(all(debug_assertions, not(target_family = "wasm")))
            .then(|| Self { entry, since: Instant::now() })
    }
}

impl Drop for SlowPollWarning<'_> {
    fn drop(&mut self) {
        let took = self.since.elapsed();
        if took > Self::LONG && !std::thread::panicking() {
            tracing::warn!(
                "{} blocked its thread for {took:?}, and other calls had to wait: make it a plain `fn` with `blocking`, or `.await` something in it",
                self.entry.place()
            );
        }
    }
}

#[cfg(test)]
mod tests;
