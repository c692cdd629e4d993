//! Open connections of a server. If there are too many, some of them are closed.
//!
//! A connection waits for its client before a request, inside of a body, and while an answer is not read. The connection that has waited
//! longest is closed first. A connection whose request the server is working on is never closed.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    task::Wake,
};

use rustc_hash::FxHashMap;

use crate::{limits::Limits, transport::runtime::Alarm};

/// Number of connections beyond the limit, for health checks and refusals while the server works for all others.
pub(super) const RESERVE: usize = 16;

/// Number of candidates that one search for the longest waiting connections keeps.
const CANDIDATES: usize = 64;

/// Activity of a connection: whether the connection waits for its client, and when the wait began.
///
/// Only the thread that serves the connection writes here, except that another thread may displace the connection.
#[derive(Default)]
pub(super) struct ActivityClock {
    requests: AtomicU32,
    /// Requests that have no answer yet, and answers that are still being streamed.
    at_work: AtomicU32,
    /// Number of times that the client has stopped reading or has resumed reading.
    reading_changes: AtomicU32,
    /// Time when the connection last began to wait for its client, measured in accepted connections.
    since: AtomicU64,
    /// Bytes of large answers that the client has not read.
    unread: AtomicUsize,
    /// Whether the client reads more slowly than the server writes.
    is_blocked: AtomicBool,
    /// Whether part of a request body is still to come.
    is_receiving: AtomicBool,
    /// Whether the last request was refused while the rest of its body was still to come.
    has_unread_body: AtomicBool,
    /// Whether the connection has to end to make room for another one. A new request cancels this order.
    is_displaced: AtomicBool,
}

impl ActivityClock {
    pub(super) fn opened_at(now: u64) -> Self {
        Self { since: AtomicU64::new(now), ..Self::default() }
    }

    /// Whether nothing can happen before the client sends or reads something.
    pub(super) fn is_waiting(&self) -> bool {
        !self.is_working() || self.is_blocked() || self.is_receiving.load(Relaxed)
    }

    /// Whether a request has no answer yet, or an answer is still being streamed.
    pub(super) fn is_working(&self) -> bool {
        self.at_work.load(Relaxed) > 0
    }

    pub(super) fn is_blocked(&self) -> bool {
        self.is_blocked.load(Relaxed)
    }

    pub(super) fn waits_since(&self) -> u64 {
        self.since.load(Relaxed)
    }

    pub(super) fn requests(&self) -> u32 {
        self.requests.load(Relaxed)
    }

    pub(super) fn reading_changes(&self) -> u32 {
        self.reading_changes.load(Relaxed)
    }

    /// Notes that the client has stopped reading, or that it reads again.
    #[cold]
    pub(super) fn block(&self, is_blocked: bool, now: u64) {
        self.reading_changes.fetch_add(1, Relaxed);
        self.is_blocked.store(is_blocked, Relaxed);
        self.since.store(now, Relaxed);
    }

    /// Notes that the rest of a body is still to come.
    #[cold]
    pub(super) fn receive(&self, now: u64) {
        self.is_receiving.store(true, Relaxed);
        self.since.store(now, Relaxed);
    }

    /// Notes that the body has come, or that it will not come.
    #[cold]
    pub(super) fn has_received(&self) {
        self.is_receiving.store(false, Relaxed);
    }

    /// Notes that the connection will be closed although the rest of its last request's body has not been read.
    pub(super) fn leave_body(&self) {
        self.has_unread_body.store(true, Relaxed);
    }

    pub(super) fn has_unread_body(&self) -> bool {
        self.has_unread_body.load(Relaxed)
    }

    /// Returns the number of bytes of large answers that the client has not read.
    pub(super) fn unread(&self) -> usize {
        self.unread.load(Relaxed)
    }

    pub(super) fn hold(&self, bytes: usize) {
        self.unread.fetch_add(bytes, Relaxed);
    }

    pub(super) fn let_go(&self, bytes: usize) {
        self.unread.fetch_sub(bytes, Relaxed);
    }

    /// Counts a request as being answered.
    #[inline]
    pub(super) fn begin(&self) {
        self.at_work.fetch_add(1, Relaxed);
        self.requests.fetch_add(1, Relaxed);
    }

    /// Counts a request as answered. `now` returns the time of the [open connections](OpenConnections::now).
    #[inline]
    pub(super) fn end(&self, now: impl FnOnce() -> u64) {
        if self.at_work.fetch_sub(1, Relaxed) == 1 {
            self.since.store(now(), Relaxed);
        }
    }

    pub(super) fn is_displaced(&self) -> bool {
        self.is_displaced.load(Relaxed)
    }

    pub(super) fn displace(&self) {
        self.is_displaced.store(true, Relaxed);
    }

    /// Cancels the order to end the connection. Returns whether there was such an order.
    pub(super) fn spare(&self) -> bool {
        self.is_displaced.swap(false, Relaxed)
    }
}

/// Table of the connections that were accepted and have not ended.
pub(super) struct OpenConnections {
    /// Maximum number of connections beside the [reserve](RESERVE).
    most: usize,
    /// Number of connections that were ever accepted. It serves as a clock, which costs less than the time of the system.
    clock: AtomicU64,
    /// Connections that were told to end and have not ended yet.
    ending: AtomicUsize,
    table: Mutex<OpenTable>,
}

#[derive(Default)]
struct OpenTable {
    all: FxHashMap<u64, OpenConnection>,
    /// Result of the last search: for each connection the time at which it began to wait, and its number. The longest waiting one is last.
    candidates: Vec<(u64, u64)>,
}

struct OpenConnection {
    activity: Arc<ActivityClock>,
    alarm: Arc<Alarm>,
}

impl OpenConnection {
    /// Returns the time at which the connection began to wait for its client. `None` if it does not wait, or has been told to end.
    fn waits_since(&self) -> Option<u64> {
        let activity = &self.activity;
        (activity.is_waiting() && !activity.is_displaced()).then(|| activity.waits_since())
    }
}

impl OpenConnections {
    pub(super) fn new(limits: &Limits) -> Self {
        // Files and connections of handlers need descriptors too.
        let most = limits.connections.max(1);
        let most = descriptors()
            .map_or(most, |all| most.min((all - all / 4).saturating_sub(RESERVE)).max(1));
        let (clock, ending, table) = (AtomicU64::new(0), AtomicUsize::new(0), Mutex::default());
        Self { most, clock, ending, table }
    }

    /// Returns the maximum number of connections beside the [reserve](RESERVE): the number in the limits, and no more than three quarters
    /// of the descriptors that the process may open.
    pub(super) fn most(&self) -> usize {
        self.most
    }

    /// Returns the time of the clock, which can only be used to order events.
    pub(super) fn now(&self) -> u64 {
        self.clock.load(Relaxed)
    }

    /// Counts one more accepted connection. Returns its number.
    pub(super) fn count(&self) -> u64 {
        self.clock.fetch_add(1, Relaxed)
    }

    /// Adds a connection. Its task is woken by `alarm` when the connection has to end.
    pub(super) fn insert(&self, number: u64, activity: Arc<ActivityClock>, alarm: Arc<Alarm>) {
        self.table().all.insert(number, OpenConnection { activity, alarm });
    }

    /// Removes a connection that has ended.
    pub(super) fn remove(&self, number: u64, activity: &ActivityClock) {
        let ended = self.table().all.remove(&number);
        self.spare(activity);
        drop(ended);
    }

    fn table(&self) -> MutexGuard<'_, OpenTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of connections that were told to end and have not ended yet.
    pub(super) fn ending(&self) -> usize {
        self.ending.load(Relaxed)
    }

    /// Tells the connection that has waited longest for its client to end. Returns whether there is one.
    pub(super) fn displace(&self) -> bool {
        let mut table = self.table();
        loop {
            while let Some((since, number)) = table.candidates.pop() {
                let open = table.all.get(&number);
                if let Some(open) = open.filter(|open| open.waits_since() == Some(since)) {
                    self.end(open);
                    return true;
                }
            }
            let waiting = table.all.iter();
            let waiting = waiting.filter_map(|(number, open)| Some((open.waits_since()?, *number)));
            let mut found: Vec<_> = waiting.collect();
            if found.is_empty() {
                return false;
            }
            if found.len() > CANDIDATES {
                found.select_nth_unstable(CANDIDATES - 1);
                found.truncate(CANDIDATES);
            }
            found.sort_unstable_by(|a, b| b.cmp(a));
            table.candidates = found;
        }
    }

    /// Ends connections whose clients do not read, until at least `bytes` of unread answers are freed. The client that has read nothing for
    /// the longest time comes first. If all of these answers together have fewer than `bytes`, no connection is ended. Returns whether
    /// there were enough.
    pub(super) fn displace_unread(&self, bytes: usize) -> bool {
        let table = self.table();
        let unread = |open: &OpenConnection| {
            let held = open.activity.unread();
            let since = open.waits_since().filter(|_| held > 0 && open.activity.is_blocked());
            since.map(|since| (since, held))
        };
        let mut found: Vec<_> =
            table.all.values().filter_map(|open| Some((unread(open)?, open))).collect();
        found.sort_unstable_by_key(|((since, _), _)| *since);
        let mut freed = 0;
        let last = found.iter().position(|((_, held), _)| {
            freed += held;
            freed >= bytes
        });
        let Some(last) = last else { return false };
        found[..=last].iter().for_each(|(_, open)| self.end(open));
        true
    }

    fn end(&self, open: &OpenConnection) {
        self.ending.fetch_add(1, Relaxed);
        open.activity.displace();
        open.alarm.wake_by_ref();
    }

    /// Cancels the order to end a connection, because the connection has a request again.
    pub(super) fn spare(&self, activity: &ActivityClock) {
        if activity.spare() {
            self.ending.fetch_sub(1, Relaxed);
        }
    }
}

/// Returns the number of descriptors that the process may open, if it is known.
#[cfg(unix)]
fn descriptors() -> Option<usize> {
    use rustix::process::{Resource, getrlimit};
    usize::try_from(getrlimit(Resource::Nofile).current?).ok()
}

#[cfg(not(unix))]
fn descriptors() -> Option<usize> {
    None
}

/// Whether a connection was not accepted because no descriptor is left.
#[cfg(unix)]
pub(super) fn is_out_of_descriptors(error: &std::io::Error) -> bool {
    use rustix::io::Errno;
    matches!(Errno::from_io_error(error), Some(Errno::MFILE | Errno::NFILE))
}

#[cfg(not(unix))]
pub(super) fn is_out_of_descriptors(_: &std::io::Error) -> bool {
    false
}
