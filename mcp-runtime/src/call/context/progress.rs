//! Reports of the progress of a call.

use std::{
    fmt,
    pin::Pin,
    task::{self, Poll},
};

use futures_core::Stream;

use super::{Context, ProgressReport, call_context::ProgressState};

/// Reporter of a call's progress, as a parameter of an `async` or `blocking` handler.
///
/// The server sends reports only if the client has asked for them; otherwise they cost nothing. Each value must be greater than the last
/// one. The server drops other values, because the protocol forbids them. Reports to a slow client are merged, so frequent reports are
/// harmless. The last report always arrives before the answer.
///
/// To report each item of a loop, use [`over`](Self::over) or [`over_stream`](Self::over_stream). To report by yourself, use
/// [`total`](Self::total) and [`report`](Self::report). These methods take every number type, without a conversion: `u32`, `usize`, `f64`
/// and all others. [`Context::progress`] returns the same reporter.
///
/// ```
/// use mcp_runtime::prelude::*;
///
/// /// Adds up numbers, slowly.
/// #[tool]
/// async fn sum(numbers: Vec<i64>, progress: Progress) -> i64 {
///     let mut sum = 0;
///     for n in progress.over(numbers) {
///         sum += n;
///         tokio::task::yield_now().await;
///     }
///     sum
/// }
/// # fn main() {}
/// ```
///
/// Specification: Base protocol, Progress.
#[derive(Clone)]
pub struct Progress(Context);

/// Progress of the call.
impl Context {
    /// Returns a [`Progress`] to report how far the work has come.
    pub fn progress(&self) -> Progress {
        Progress(self.clone())
    }
}

impl Progress {
    /// Sets the total amount of work, in the unit of the reports. By default the total is unknown.
    ///
    /// ```
    /// use mcp_runtime::prelude::*;
    ///
    /// /// Searches the files of some days.
    /// #[tool(read_only, blocking)]
    /// fn search(days: u32, files: &[String], progress: Progress) -> usize {
    ///     progress.total(files.len());
    ///     for (done, file) in files.iter().enumerate() {
    ///         progress.say(done + 1, format!("{file}, {days} days"));
    ///     }
    ///     files.len()
    /// }
    /// # fn main() {}
    /// ```
    pub fn total(&self, total: impl Amount) -> &Self {
        self.state().total = Some(total.amount());
        self
    }

    /// Reports the amount of work that is done.
    pub fn report(&self, done: impl Amount) {
        self.send(done.amount(), None);
    }

    /// Reports the amount of work that is done, with a message (protocol revision 2025-03-26 and later).
    pub fn say(&self, done: impl Amount, message: impl Into<String>) {
        self.send(done.amount(), Some(message.into()));
    }

    /// Reports a value one greater than the last. The first value is 1.
    pub fn step(&self) {
        let next = self.state().last.unwrap_or(0.0) + 1.0;
        self.send(next, None);
    }

    /// Iterates over `items` and reports each finished item. The total is the upper bound of the iterator's `size_hint`.
    pub fn over<I: IntoIterator>(&self, items: I) -> ProgressIter<I::IntoIter> {
        let items = items.into_iter();
        self.promise(items.size_hint());
        ProgressIter { items, progress: self.clone(), done: 0 }
    }

    /// Returns a stream of `items` that reports each finished item, like [`over`](Self::over).
    pub fn over_stream<S: Stream + Unpin>(&self, items: S) -> ProgressStream<S> {
        self.promise(items.size_hint());
        ProgressStream { items, progress: self.clone(), done: 0 }
    }

    fn promise(&self, (_, most): (usize, Option<usize>)) {
        if let Some(most) = most {
            self.total(most);
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, ProgressState> {
        self.0.lock_progress()
    }

    fn send(&self, progress: f64, message: Option<String>) {
        let caller = &self.0.0.caller;
        let Some(channel) = caller.channel.as_ref().filter(|_| caller.wants_progress) else {
            return;
        };
        let mut state = self.state();
        let rises = progress.is_finite() && state.last.is_none_or(|last| progress > last);
        if !rises || self.0.is_over() {
            return;
        }
        state.last = Some(progress);
        // The report is sent under the lock, so that the reports of two threads are sent in ascending order.
        let total = state.total.filter(|total| total.is_finite());
        channel.progress(ProgressReport { progress, total, message });
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Progress").field(&self.state()).finish()
    }
}

/// Number that can express progress.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "progress cannot be counted in `{Self}`",
    label = "not a number",
    note = "write a number, as in `progress.report(3)`, or a count, such as `lines.len()`"
)]
pub trait Amount: ProgressNumber {
    /// Converts the amount into the number type of the protocol.
    fn amount(self) -> f64;
}

/// Sealed trait, so that other crates cannot implement [`Amount`].
#[diagnostic::on_unimplemented(
    message = "progress cannot be counted in `{Self}`",
    label = "not a number of Rust or its standard library"
)]
pub trait ProgressNumber {}

macro_rules! amounts {
    ($($ty:ty)*) => {$(
        impl ProgressNumber for $ty {}

        impl Amount for $ty {
            #[allow(
                clippy::cast_precision_loss,
                clippy::cast_lossless,
                trivial_numeric_casts,
                reason = "one cast for all number types; the protocol's number is an `f64`"
            )]
            fn amount(self) -> f64 {
                self as f64
            }
        }
    )*};
}
amounts! { u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64 }

/// Iterator that reports progress, returned by [`Progress::over`].
///
/// An item counts as finished when the next one is requested.
///
/// ```
/// use mcp_runtime::prelude::*;
///
/// /// Counts the words of some texts.
/// #[tool]
/// async fn count_words(texts: Vec<String>, progress: Progress) -> usize {
///     let mut words = 0;
///     for text in progress.over(texts) {
///         words += text.split_whitespace().count();
///         tokio::task::yield_now().await;
///     }
///     words
/// }
/// # fn main() {}
/// ```
#[derive(Debug)]
pub struct ProgressIter<I> {
    items: I,
    progress: Progress,
    done: u64,
}

impl<I: Iterator> Iterator for ProgressIter<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        // An item counts as finished when the loop requests the next one.
        if self.done > 0 {
            self.progress.report(self.done);
        }
        let item = self.items.next();
        if item.is_some() {
            self.done += 1;
        }
        item
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.items.size_hint()
    }
}

/// Stream that reports progress, returned by [`Progress::over_stream`].
///
/// An item counts as finished when the next one is requested.
///
/// ```
/// use futures_core::Stream;
/// use mcp_runtime::{extract::ProgressStream, prelude::*};
///
/// fn with_progress<S: Stream + Unpin>(rows: S, progress: &Progress) -> ProgressStream<S> {
///     progress.over_stream(rows)
/// }
/// ```
#[derive(Debug)]
pub struct ProgressStream<S> {
    items: S,
    progress: Progress,
    done: u64,
}

impl<S: Stream + Unpin> Stream for ProgressStream<S> {
    type Item = S::Item;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<Option<S::Item>> {
        if self.done > 0 {
            self.progress.report(self.done);
        }
        let item = std::task::ready!(Pin::new(&mut self.items).poll_next(cx));
        if item.is_some() {
            self.done += 1;
        }
        Poll::Ready(item)
    }
}
