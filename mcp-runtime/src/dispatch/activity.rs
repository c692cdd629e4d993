//! Record of the item whose handler a thread is running. Another thread reads the record to find a handler that blocks the first thread, so
//! that the process can end with an error that names the item.

use std::{
    cell::Cell,
    fmt,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use crate::{
    catalog::{Entry, Snapshot},
    model::ListKind,
};

thread_local! {
    static OF_THIS_THREAD: Cell<Option<&'static ReactorActivity>> = const { Cell::new(None) };
}

/// Function that runs once, before the thread runs its first handler.
type FirstCallHook = Box<dyn FnOnce() + Send>;

/// Record of the item whose handler one thread is running. Each poll of a handler costs three relaxed stores. The record contains the
/// address of the entry instead of an `Arc`, because all threads would contend for the reference count of a shared `Arc`.
#[derive(Default)]
pub(crate) struct ReactorActivity {
    /// Address of the [`Entry`] whose handler is being polled; zero between polls.
    entry: AtomicUsize,
    /// Number of polls so far. It distinguishes one long poll of an item from two short ones.
    polls: AtomicUsize,
    beginning: Mutex<Option<FirstCallHook>>,
}

/// Identifies one poll of a handler, so that a long poll can be told from two short ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ActivePoll {
    entry: usize,
    number: usize,
}

impl ReactorActivity {
    /// Creates the record of the current thread. The record is never freed, because a process creates only one for each thread that serves
    /// requests.
    pub(crate) fn of_this_thread() -> &'static Self {
        let activity: &'static Self = Box::leak(Box::default());
        OF_THIS_THREAD.set(Some(activity));
        activity
    }

    /// Sets a function that runs before the first call. The watchdog is started in this way, so a server that gets no calls never starts
    /// it.
    #[cfg_attr(not(all(feature = "stdio", unix)), allow(dead_code, reason = "for the watchdog"))]
    pub(crate) fn before_first_call(&self, beginning: impl FnOnce() + Send + 'static) {
        *self.beginning.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(beginning));
    }

    /// Returns the poll that is currently running, if there is one.
    pub(crate) fn current(&self) -> Option<ActivePoll> {
        let (entry, number) = (self.entry.load(Relaxed), self.polls.load(Relaxed));
        (entry != 0).then_some(ActivePoll { entry, number })
    }

    #[cold]
    fn begin(&self) {
        let beginning = self.beginning.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(beginning) = beginning {
            beginning();
        }
    }
}

impl ActivePoll {
    /// Returns an error that names the item whose handler blocks its thread in this poll.
    pub(crate) fn problem(self, snapshot: &Snapshot) -> Unresponsive {
        let kinds = [ListKind::Tools, ListKind::Resources, ListKind::Templates, ListKind::Prompts];
        let mut entries = kinds.into_iter().flat_map(|kind| snapshot.list(kind));
        let found = entries.find(|entry| Arc::as_ptr(entry).addr() == self.entry);
        Unresponsive(found.map_or_else(
            || "an item that is not listed".to_owned(),
            |entry| format!("the {} {}", entry.kind_name(), entry.place()),
        ))
    }
}

/// Error for an item that blocks its thread while the server is stopping.
#[derive(Debug)]
pub(crate) struct Unresponsive(pub(crate) String);

impl fmt::Display for Unresponsive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} blocked its thread for so long that the server could not stop, and was cut off: make it a plain `fn` with `blocking`, or `.await` something in it",
            self.0
        )
    }
}

/// Guard that records an item as running until the guard is dropped.
pub(super) struct Entered(Option<&'static ReactorActivity>);

impl Entered {
    #[inline]
    pub(super) fn new(entry: &Arc<Entry>) -> Self {
        let activity = OF_THIS_THREAD.get();
        if let Some(activity) = activity {
            let polls = activity.polls.load(Relaxed);
            if polls == 0 {
                activity.begin();
            }
            activity.polls.store(polls.wrapping_add(1), Relaxed);
            activity.entry.store(Arc::as_ptr(entry).addr(), Relaxed);
        }
        Self(activity)
    }
}

impl Drop for Entered {
    #[inline]
    fn drop(&mut self) {
        if let Some(activity) = self.0 {
            activity.entry.store(0, Relaxed);
        }
    }
}
