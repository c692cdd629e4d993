//! The open connections of a server, and which of them give way when there are too many.
//!
//! A connection waits for its client before a request, inside of a body, and while an answer is not read. The one that has
//! waited longest gives way; a connection that the server works for never does.

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
    transport::alarm::Alarm,
};

/// Connections beyond the bound, for health checks and refusals while every other connection is worked for.
pub(super) const RESERVE: usize = 16;

/// Candidates that one search for the longest waiting connections keeps.
const CANDIDATES: usize = 64;

#[derive(Default)]
pub(super) struct OpenConnections {
    /// Connections that were ever let in. This orders what happens to connections, and costs less than the time.
    clock: AtomicU64,
    /// Connections that were told to end and have not ended yet.
    ending: AtomicUsize,
    table: Mutex<OpenTable>,
}

#[derive(Default)]
struct OpenTable {
    all: FxHashMap<u64, Open>,
    /// What the last search has found, the longest waiting last: since when it waits, and its number.
    candidates: Vec<(u64, u64)>,
}

struct Open {
    desk: Arc<Desk>,
    alarm: Arc<Alarm>,
}

impl Open {
    /// Since when the connection waits for its client, unless it does not, or has been told to end.
    fn waits_since(&self) -> Option<u64> {
        let pulse = &self.desk.pulse;
        (pulse.is_waiting() && !pulse.is_displaced()).then(|| pulse.waits_since())
    }
}

impl OpenConnections {
    /// The most connections beside the [reserve](RESERVE): what the limits say, and no more than three quarters of the
    /// descriptors that the process may open. Files and connections of handlers need some too.
    pub(super) fn most(limits: &Limits) -> usize {
        let most = limits.connections.max(1);
        descriptors().map_or(most, |it| most.min((it - it / 4).saturating_sub(RESERVE)).max(1))
    }

    /// What the time is, as far as the order of events goes.
    pub(super) fn now(&self) -> u64 {
        self.clock.load(Relaxed)
    }

    fn table(&self) -> MutexGuard<'_, OpenTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Connections that were told to end and have not ended yet.
    pub(super) fn ending(&self) -> usize {
        self.ending.load(Relaxed)
    }

    /// Tells the connection to end that has waited longest for its client. Returns whether there is one.
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

    /// Tells connections to end whose clients do not read, until these hold so many bytes of answers together. The connections
    /// go first whose clients have read nothing for longest. Returns whether there are enough.
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

    /// Lets a connection go on that has a request again.
    pub(super) fn spare(&self, desk: &Desk) {
        if desk.pulse.spare() {
            self.ending.fetch_sub(1, Relaxed);
        }
    }
}

/// A connection that is open until this is dropped.
pub(super) struct Opened {
    number: u64,
    pub(super) desk: Arc<Desk>,
    pub(super) alarm: Arc<Alarm>,
}

impl Opened {
    /// `address` is the other end.
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

/// Bytes of a large answer that its client has not read, among those of all connections.
pub(super) struct HeldAnswer {
    _taken: Taken,
    desk: Arc<Desk>,
    bytes: usize,
}

impl HeldAnswer {
    /// Takes room for an answer. Where there is none, connections give way whose clients do not read.
    pub(super) fn take(desk: &Arc<Desk>, bytes: usize) -> Option<Self> {
        let endpoint = &desk.endpoint;
        let mut taken = Taken::default();
        if !taken.grow(&endpoint.answers, bytes, endpoint.limits().all_answers) {
            let tally = endpoint.service.tally();
            tally.refuse(Limit::AllAnswers);
            if !endpoint.open.displace_unread(bytes) {
                return None;
            }
            // What the others hold is given back in a moment.
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

/// How many descriptors the process may have, where that is known.
#[cfg(unix)]
fn descriptors() -> Option<usize> {
    use rustix::process::{Resource, getrlimit};
    usize::try_from(getrlimit(Resource::Nofile).current?).ok()
}

#[cfg(not(unix))]
fn descriptors() -> Option<usize> {
    None
}

/// Whether a connection could not be accepted because there is no descriptor for it.
#[cfg(unix)]
pub(super) fn is_out_of_descriptors(error: &std::io::Error) -> bool {
    use rustix::io::Errno;
    matches!(Errno::from_io_error(error), Some(Errno::MFILE | Errno::NFILE))
}

#[cfg(not(unix))]
pub(super) fn is_out_of_descriptors(_: &std::io::Error) -> bool {
    false
}
