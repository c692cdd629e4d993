//! Table of a server's open connections. If there are too many connections, the server closes some of them.
//!
//! A connection waits for its client before each request, while the body of a request arrives, and while the client does not read a
//! response. The connection that has waited longest is closed first. A connection is never closed while the server works on its request.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    task::Wake,
};

use rustc_hash::FxHashMap;

use crate::{limits::Limits, transport::runtime::Alarm};

/// Number of connections that the server accepts beyond the limit. They serve only health checks and refusals while all other connections
/// are in use.
pub(super) const RESERVE: usize = 16;

/// Maximum number of connections that one search for the longest-waiting connections returns.
const CANDIDATES: usize = 64;

/// Activity of a connection: whether the connection waits for its client, and when the wait began.
///
/// Only the tokio tasks that serve the connection write to these fields. The exception is `is_displaced`, which other tasks set too.
#[derive(Default)]
pub(super) struct ActivityClock {
    requests: AtomicU32,
    /// Number of requests without a response, plus the responses that are still being streamed.
    at_work: AtomicU32,
    /// Number of times that the client has stopped reading or has resumed reading.
    reading_changes: AtomicU32,
    /// Time when the connection last began to wait for its client, according to the logical clock of [`OpenConnections`].
    since: AtomicU64,
    /// Number of bytes of large responses that the client has not read.
    unread: AtomicUsize,
    /// Whether the last write could not be completed, because the client reads too slowly or not at all.
    is_blocked: AtomicBool,
    /// Number of times that bytes have arrived.
    arrivals: AtomicU32,
    /// Number of arrivals until the last request ended. Bytes that have arrived since then begin the next head, so its rest has to follow in
    /// time.
    arrivals_at_end: AtomicU32,
    /// Whether part of a request body has not arrived yet.
    is_receiving: AtomicBool,
    /// Whether the connection will be closed before the rest of the last request body has been read.
    has_unread_body: AtomicBool,
    /// Whether the connection has to end, so that a different one can be served. A new request cancels the displacement.
    is_displaced: AtomicBool,
}

impl ActivityClock {
    /// Creates the clock of a new connection. Its client has connected for a request, so the head of the request has to arrive in time.
    pub(super) fn opened_at(now: u64) -> Self {
        let (since, arrivals) = (AtomicU64::new(now), AtomicU32::new(1));
        Self { since, arrivals, ..Self::default() }
    }

    /// Whether the connection makes no progress until the client sends or reads bytes.
    pub(super) fn is_waiting(&self) -> bool {
        !self.is_working() || self.is_blocked() || self.is_receiving()
    }

    /// Whether a request has no response yet, or a response is still being streamed.
    pub(super) fn is_working(&self) -> bool {
        self.at_work.load(Relaxed) > 0
    }

    /// Whether there is neither a request, nor a response that the client has not read.
    pub(super) fn is_idle(&self) -> bool {
        !self.is_working() && !self.is_blocked()
    }

    pub(super) fn is_blocked(&self) -> bool {
        self.is_blocked.load(Relaxed)
    }

    /// Whether the client has sent a part of a request, and has to send the rest in time.
    pub(super) fn awaits_rest(&self) -> bool {
        self.arrivals() != self.arrivals_at_end.load(Relaxed) || self.is_receiving()
    }

    /// Whether a part of a request body has not arrived yet.
    pub(super) fn is_receiving(&self) -> bool {
        self.is_receiving.load(Relaxed)
    }

    /// Records that bytes have arrived.
    #[inline]
    pub(super) fn has_read(&self) {
        // Only the tokio task that drives the connection writes here.
        self.arrivals.store(self.arrivals().wrapping_add(1), Relaxed);
    }

    /// Returns the number of times that bytes have arrived.
    #[inline]
    pub(super) fn arrivals(&self) -> u32 {
        self.arrivals.load(Relaxed)
    }

    #[inline]
    fn end_head(&self) {
        self.arrivals_at_end.store(self.arrivals(), Relaxed);
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

    /// Records that the client has stopped reading, or has resumed reading.
    #[cold]
    pub(super) fn block(&self, is_blocked: bool, now: u64) {
        self.reading_changes.fetch_add(1, Relaxed);
        self.is_blocked.store(is_blocked, Relaxed);
        self.since.store(now, Relaxed);
    }

    /// Records that the rest of a request body has not arrived yet.
    #[cold]
    pub(super) fn receive(&self, now: u64) {
        self.is_receiving.store(true, Relaxed);
        self.since.store(now, Relaxed);
    }

    /// Records that the request body is complete, or that its rest will not be read.
    #[cold]
    pub(super) fn has_received(&self) {
        self.is_receiving.store(false, Relaxed);
    }

    /// Records that the rest of a refused body has been read and dropped, so that the next bytes begin a request.
    #[cold]
    pub(super) fn has_dropped_body(&self) {
        self.has_received();
        self.end_head();
    }

    /// Records that the connection will be closed before the rest of the last request body has been read.
    pub(super) fn leave_body(&self) {
        self.has_unread_body.store(true, Relaxed);
    }

    pub(super) fn has_unread_body(&self) -> bool {
        self.has_unread_body.load(Relaxed)
    }

    /// Returns the number of bytes of large responses that the client has not read.
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

    /// Counts a request as answered. `now` returns the time of the logical clock, as [`OpenConnections::now`] does.
    #[inline]
    pub(super) fn end(&self, now: impl FnOnce() -> u64) {
        if self.at_work.fetch_sub(1, Relaxed) == 1 {
            self.since.store(now(), Relaxed);
            self.end_head();
        }
    }

    pub(super) fn is_displaced(&self) -> bool {
        self.is_displaced.load(Relaxed)
    }

    pub(super) fn displace(&self) {
        self.is_displaced.store(true, Relaxed);
    }

    /// Cancels the displacement of the connection. Returns whether the connection was displaced.
    pub(super) fn spare(&self) -> bool {
        self.is_displaced.swap(false, Relaxed)
    }
}

/// Table of the connections that have been accepted and have not ended.
pub(super) struct OpenConnections {
    /// Maximum number of connections, not counting the [reserve](RESERVE).
    most: usize,
    /// Number of connections that have been accepted so far. It serves as a logical clock, which is cheaper to read than the system clock.
    clock: AtomicU64,
    /// Number of displaced connections that have not ended yet.
    ending: AtomicUsize,
    table: Mutex<OpenTable>,
}

#[derive(Default)]
struct OpenTable {
    all: FxHashMap<u64, OpenConnection>,
    /// Results of the last search: for each connection, the time at which it began to wait, and its number. The longest-waiting connection
    /// is last.
    candidates: Vec<(u64, u64)>,
}

struct OpenConnection {
    activity: Arc<ActivityClock>,
    alarm: Arc<Alarm>,
}

impl OpenConnection {
    /// Returns the time at which the connection began to wait for its client. Returns `None` if the connection does not wait, or is already
    /// displaced.
    fn waits_since(&self) -> Option<u64> {
        let activity = &self.activity;
        (activity.is_waiting() && !activity.is_displaced()).then(|| activity.waits_since())
    }
}

impl OpenConnections {
    pub(super) fn new(limits: &Limits) -> Self {
        // Leaves a quarter of the descriptors for the files and connections of handlers.
        let most = limits.connections.max(1);
        let most = descriptors()
            .map_or(most, |all| most.min((all - all / 4).saturating_sub(RESERVE)).max(1));
        let (clock, ending, table) = (AtomicU64::new(0), AtomicUsize::new(0), Mutex::default());
        Self { most, clock, ending, table }
    }

    /// Returns the maximum number of connections, not counting the [reserve](RESERVE). This is the number in the limits, but at most three
    /// quarters of the descriptors that the process may open.
    pub(super) fn most(&self) -> usize {
        self.most
    }

    /// Returns the time of the logical clock, which can only be used to order events.
    pub(super) fn now(&self) -> u64 {
        self.clock.load(Relaxed)
    }

    /// Counts an accepted connection, and returns its number.
    pub(super) fn count(&self) -> u64 {
        self.clock.fetch_add(1, Relaxed)
    }

    /// Adds a connection. `alarm` wakes the tokio task of the connection when the connection has to end.
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

    /// Returns the number of displaced connections that have not ended yet.
    pub(super) fn ending(&self) -> usize {
        self.ending.load(Relaxed)
    }

    /// Displaces the connection that has waited longest for its client. Returns `false` if no connection waits.
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

    /// Displaces connections whose clients do not read, until at least `bytes` bytes of unread responses are freed. The connection that has
    /// been blocked for the longest time comes first. If all of these responses together have fewer bytes, displaces no connection and
    /// returns `false`.
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

    /// Cancels the displacement of a connection that has a new request or has ended.
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

/// Whether accepting a connection failed because no file descriptor is left.
#[cfg(unix)]
pub(super) fn is_out_of_descriptors(error: &std::io::Error) -> bool {
    use rustix::io::Errno;
    matches!(Errno::from_io_error(error), Some(Errno::MFILE | Errno::NFILE))
}

#[cfg(not(unix))]
pub(super) fn is_out_of_descriptors(_: &std::io::Error) -> bool {
    false
}
