//! Open connections of a server, of which some are closed when there are too many.
//!
//! A connection waits for its client before a request, inside of a body, and while an answer is not read. The connection that has waited
//! longest is closed first. A connection that the server works for is never closed.

use std::{
    net::IpAddr,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    task::{Wake, Waker},
};

use rustc_hash::FxHashMap;

use super::{desk::Desk, endpoint::Endpoint};
use crate::{
    limits::{Limit, Limits, Taken},
    transport::runtime::Alarm,
};

/// Number of connections beyond the limit, for health checks and refusals while the server works for all others.
pub(super) const RESERVE: usize = 16;

/// Number of candidates that one search for the longest waiting connections keeps.
const CANDIDATES: usize = 64;

pub(super) struct OpenConnections {
    /// The most connections beside the [reserve](RESERVE).
    most: usize,
    /// Number of connections that were ever accepted. It serves as a clock, which costs less than the time of the system.
    clock: AtomicU64,
    /// Connections that were told to end and have not ended yet.
    ending: AtomicUsize,
    table: Mutex<OpenTable>,
}

#[derive(Default)]
struct OpenTable {
    all: FxHashMap<u64, Open>,
    /// Result of the last search: for each connection the time since when it waits, and its number. The longest waiting one is last.
    candidates: Vec<(u64, u64)>,
}

struct Open {
    desk: Arc<Desk>,
    alarm: Arc<Alarm>,
}

impl Open {
    /// Returns the time since when the connection waits for its client. `None` if it does not wait, or has been told to end.
    fn waits_since(&self) -> Option<u64> {
        let pulse = &self.desk.pulse;
        (pulse.is_waiting() && !pulse.is_displaced()).then(|| pulse.waits_since())
    }
}

impl OpenConnections {
    pub(super) fn new(limits: &Limits) -> Self {
        // Files and connections of handlers need descriptors too.
        let most = limits.connections.max(1);
        let most =
            descriptors().map_or(most, |it| most.min((it - it / 4).saturating_sub(RESERVE)).max(1));
        let (clock, ending, table) = (AtomicU64::new(0), AtomicUsize::new(0), Mutex::default());
        Self { most, clock, ending, table }
    }

    /// The most connections beside the [reserve](RESERVE): the number in the limits, and no more than three quarters of the
    /// descriptors that the process may open.
    pub(super) fn most(&self) -> usize {
        self.most
    }

    /// Returns the time, which only orders events.
    pub(super) fn now(&self) -> u64 {
        self.clock.load(Relaxed)
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
                if let Some(open) = open.filter(|it| it.waits_since() == Some(since)) {
                    self.end(open);
                    return true;
                }
            }
            let waiting = table.all.iter().filter_map(|it| Some((it.1.waits_since()?, *it.0)));
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

    /// Tells connections to end whose clients do not read, beginning with the client that has read nothing for longest. Ends none if their
    /// answers have less than `bytes` together. Returns whether there were enough.
    pub(super) fn displace_unread(&self, bytes: usize) -> bool {
        let table = self.table();
        let unread = |open: &Open| {
            let held = open.desk.pulse.unread();
            let since = open.waits_since().filter(|_| held > 0 && open.desk.pulse.is_blocked());
            since.map(|it| (it, held))
        };
        let mut found: Vec<_> =
            table.all.values().filter_map(|it| Some((unread(it)?, it))).collect();
        found.sort_unstable_by_key(|it| it.0.0);
        let mut freed = 0;
        let last = found.iter().position(|it| {
            freed += it.0.1;
            freed >= bytes
        });
        let Some(last) = last else { return false };
        found[..=last].iter().for_each(|it| self.end(it.1));
        true
    }

    fn end(&self, open: &Open) {
        self.ending.fetch_add(1, Relaxed);
        open.desk.pulse.displace();
        open.alarm.wake_by_ref();
    }

    /// Takes back that a connection must end, because it has a request again.
    pub(super) fn spare(&self, desk: &Desk) {
        if desk.pulse.spare() {
            self.ending.fetch_sub(1, Relaxed);
        }
    }
}

/// Entry of an open connection, removed when this is dropped.
pub(super) struct Opened {
    number: u64,
    pub(super) desk: Arc<Desk>,
    pub(super) alarm: Arc<Alarm>,
}

impl Opened {
    /// Adds a connection to the open ones. `address` is its other end.
    pub(super) fn new(endpoint: &Arc<Endpoint>, address: IpAddr) -> Self {
        let open = &endpoint.open;
        let number = open.clock.fetch_add(1, Relaxed);
        let (desk, alarm) =
            (Desk::new(endpoint.clone(), Some(address)), Alarm::new(Waker::noop().clone()));
        open.table().all.insert(number, Open { desk: desk.clone(), alarm: alarm.clone() });
        Self { number, desk, alarm }
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        let open = &self.desk.endpoint.open;
        let ended = open.table().all.remove(&self.number);
        open.spare(&self.desk);
        drop(ended);
    }
}

/// Bytes of a large answer that its client has not read, counted for the limit of all connections.
pub(super) struct HeldAnswer {
    _taken: Taken,
    desk: Arc<Desk>,
    bytes: usize,
}

impl HeldAnswer {
    /// Takes room for an answer. If there is none, connections whose clients do not read are closed to make room.
    pub(super) fn take(desk: &Arc<Desk>, bytes: usize) -> Option<Self> {
        let endpoint = &desk.endpoint;
        let mut taken = Taken::default();
        if !taken.grow(&endpoint.answers, bytes, endpoint.limits().all_answers) {
            let tally = endpoint.service.tally();
            tally.refuse(Limit::AllAnswers);
            if !endpoint.open.displace_unread(bytes) {
                return None;
            }
            // The closed connections give back their bytes in a moment.
            taken.grow_over(&endpoint.answers, bytes);
        }
        desk.pulse.hold(bytes);
        Some(Self { _taken: taken, desk: desk.clone(), bytes })
    }
}

impl Drop for HeldAnswer {
    fn drop(&mut self) {
        self.desk.pulse.let_go(self.bytes);
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
