//! Cancellation of a call, and waking of the tokio task that runs its handler.

use std::{fmt, sync::atomic::Ordering};

use super::Context;
use crate::error::{Error, Result};

/// Signal that the answer of a call is no longer needed.
///
/// This is the case when the client has cancelled the call, when the call has timed out, or when the server stops. An `async` handler needs
/// no such parameter, because its future is dropped at the current `.await`. A `#[tool(blocking)]` function cannot be interrupted in this
/// way: take `Cancel` as a parameter there, and check it regularly, for example in each iteration of a loop. [`Context::cancel`] returns
/// the same signal.
///
/// ```
/// use mcp_runtime::prelude::*;
///
/// /// Counts the primes below a bound.
/// #[tool(blocking, timeout = "10s")]
/// fn primes(below: u64, cancel: Cancel) -> Result<u64> {
///     let mut count = 0;
///     for n in 2..below {
///         cancel.check()?;
///         count += u64::from((2..n).take_while(|d| d * d <= n).all(|d| n % d != 0));
///     }
///     Ok(count)
/// }
/// # fn main() {}
/// ```
///
/// Specification: Base protocol, Cancellation.
#[derive(Clone)]
pub struct Cancel(Context);

impl Cancel {
    /// Returns whether the answer is no longer needed.
    pub fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }

    /// Returns an error if the answer is no longer needed, for use with `?`.
    ///
    /// # Errors
    /// Fails if the answer is no longer needed. The client does not see the error, because the call has already ended.
    pub fn check(&self) -> Result<()> {
        if self.is_cancelled() { Err(Error::msg("cancelled")) } else { Ok(()) }
    }

    /// Waits until the answer is no longer needed. If the call ends without a cancellation, the future never resolves.
    ///
    /// # Cancel safety
    /// Cancel safe. The future only observes the call, so a new future can take its place.
    pub async fn cancelled(&self) {
        self.0.cancelled().await;
    }
}

impl fmt::Debug for Cancel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Cancel").field(&self.is_cancelled()).finish()
    }
}

/// Cancellation of the call.
impl Context {
    /// Returns a [`Cancel`], which signals that the answer is no longer needed. An `async` handler needs it only for clean-up, because its
    /// future is dropped.
    pub fn cancel(&self) -> Cancel {
        Cancel(self.clone())
    }

    /// Returns whether the answer is no longer needed.
    pub fn is_cancelled(&self) -> bool {
        self.0.cancelled.load(Ordering::Acquire)
            || self.0.caller.outer.as_ref().is_some_and(Self::is_cancelled)
    }

    /// Waits until the call has ended or was cancelled.
    pub(crate) async fn ended(&self) {
        loop {
            let notified = self.0.cancel.notified();
            if self.is_over() || self.is_cancelled() {
                return;
            }
            notified.await;
        }
    }

    pub(crate) async fn cancelled(&self) {
        loop {
            let notified = self.0.cancel.notified();
            if self.is_cancelled() {
                return;
            }
            notified.await;
        }
    }

    pub(crate) fn set_cancelled(&self) {
        self.0.cancelled.store(true, Ordering::Release);
        self.0.cancel.notify_waiters();
        let waker = self.0.waker.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Wakes the tokio task that runs the handler.
    pub(crate) fn wake(&self) {
        let slot = self.0.waker.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let waker = slot.clone();
        drop(slot);
        if let Some(waker) = waker {
            waker.wake();
        }
        if let Some(outer) = &self.0.caller.outer {
            // The closure passed to `Builder::around` may run the handler in a separate tokio task, so the tokio task of the outer call is
            // woken as well.
            outer.wake();
        }
    }

    /// Sets the waker that is woken when the call is cancelled.
    pub(crate) fn watch_cancel(&self, waker: &std::task::Waker) {
        let mut slot = self.0.waker.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        match &mut *slot {
            Some(before) => before.clone_from(waker),
            None => *slot = Some(waker.clone()),
        }
    }
}
