//! State that all connections of one HTTP endpoint share.

use std::{
    cell::{Cell, RefCell},
    net::IpAddr,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::time::Instant;

use super::{
    access::HostAccess,
    open_connections::OpenConnections,
    session::{HttpSession, KEPT, SseSession},
    session_table::{SessionId, SessionTable},
    sse::{EventMemory, millis},
};
use crate::{
    call::context::Carrier,
    limits::{ByteBudget, CallerKey, Limit, Limits, NoShare, Pool, Share, Tenant},
    protocol::{Peer, Remembered, Service},
    server::{HttpSettings, Started},
};

/// Time that an unused session (opened, but without any request after that) is kept when there is no room for another session.
const UNUSED: Duration = Duration::from_secs(60);

/// Time in milliseconds before a search for unused sessions is repeated, or a search in vain for sessions to displace.
const SEARCH: u64 = 100;

pub(super) struct Endpoint {
    pub(super) service: Arc<Service>,
    pub(super) settings: HttpSettings,
    pub(super) access: HostAccess,
    pub(super) sessions: SessionTable<HttpSession>,
    /// Sessions of protocol revision 2024-11-05.
    pub(super) sse_sessions: Arc<SessionTable<SseSession>>,
    /// Time of the last search for sessions that were never used, in milliseconds since the start.
    searched: AtomicU64,
    /// Time of the last search in which no tenant had sessions that could make room, in milliseconds since the start. Zero before the first
    /// one.
    displaced_none: AtomicU64,
    pub(super) connections: OpenConnections,
    /// Bytes of large answers that clients have not read.
    pub(super) answers: Arc<ByteBudget>,
    memory: Arc<EventMemory>,
    /// State that is shared by several sessions. There are several such states, so that sessions seldom wait for each other.
    remembered: [OnceLock<Arc<Remembered>>; 16],
    /// Time of the last search for idle sessions, in milliseconds since the start. The next one is due after `sweep_period`, in
    /// milliseconds.
    swept: AtomicU64,
    sweep_period: u64,
    is_stopping: AtomicBool,
    started: Mutex<Option<Started>>,
}

impl Endpoint {
    /// `bound` is the address that the server listens on, if it is known.
    pub(super) fn new(
        started: Started,
        settings: HttpSettings,
        bound: Option<IpAddr>,
    ) -> Arc<Self> {
        Arc::new(Self {
            service: Service::new(&started),
            access: HostAccess::new(&settings, bound),
            settings,
            sessions: SessionTable::default(),
            sse_sessions: Arc::default(),
            searched: AtomicU64::new(0),
            displaced_none: AtomicU64::new(0),
            connections: OpenConnections::new(&started.limits),
            answers: Arc::default(),
            memory: Arc::new(EventMemory::new(started.limits)),
            remembered: Default::default(),
            swept: AtomicU64::new(0),
            sweep_period: millis(KEPT.min(started.limits.session_idle / 8)).max(1),
            is_stopping: AtomicBool::new(false),
            started: Mutex::new(Some(started)),
        })
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.service.limits
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::Acquire)
    }

    /// Takes a share for one more stream. `None` if the tenant has used up its share, or if the server is stopping.
    pub(super) fn permit(&self, tenant: &Arc<Tenant>) -> Option<Share> {
        let taken = tenant.take(Pool::Streams, 1, self.limits().all_streams);
        if taken.is_err() {
            self.service.tally().refuse(Limit::AllStreams);
        }
        taken.ok().filter(|_| !self.is_stopping())
    }

    /// Returns the tenant that a request counts for.
    pub(super) fn tenant(&self, carrier: &Carrier) -> Arc<Tenant> {
        self.service.shares().tenant(CallerKey::of_sender(carrier))
    }

    /// Makes a session. The caller puts it into the table.
    ///
    /// # Errors
    /// Returns the reason for the refusal.
    pub(super) fn new_session(&self, carrier: &Carrier) -> Result<HttpSession, String> {
        let tenant = self.tenant(carrier);
        let (share, id) = (self.share(&tenant)?, SessionId::unguessable()?);
        let remembered = &self.remembered[id.part(self.remembered.len())];
        let remembered = remembered.get_or_init(|| Remembered::new(&self.service));
        let peer = Peer::of_tenant(self.service.clone(), remembered.clone(), tenant);
        Ok(HttpSession::new(id, peer, self.memory.clone(), share))
    }

    /// Takes a share for one more session, of the current transport or of HTTP+SSE.
    ///
    /// # Errors
    /// Returns the reason for the refusal.
    pub(super) fn share(&self, tenant: &Arc<Tenant>) -> Result<Share, String> {
        let all = self.limits().sessions;
        let take = || tenant.take(Pool::Sessions, 1, all);
        let taken = take().or_else(|_| {
            self.end_unused();
            take()
        });
        let taken = taken.or_else(|why| if self.displace_for(tenant) { take() } else { Err(why) });
        taken.map_err(|why| {
            self.service.tally().refuse(Limit::Sessions);
            match why {
                NoShare::Empty => format!("there are already {all} sessions: try again later"),
                NoShare::Reserved | NoShare::Own => format!(
                    "this client has its share of the {all} sessions: end some of them, or try again later"
                ),
            }
        })
    }

    /// Ends sessions that were opened and never used, and sessions that are idle. Refusals in quick succession do not repeat the search.
    fn end_unused(&self) {
        let (now, searched) = (self.millis(), self.searched.load(Ordering::Relaxed));
        if now >= searched + SEARCH {
            self.searched.store(now, Ordering::Relaxed);
            let idle = self.limits().session_idle;
            self.sessions.sweep(|session| session.is_idle(now, idle, idle.min(UNUSED)));
        }
    }

    /// Ends some sessions of the tenant with the most sessions, to make room for a tenant with less than an equal part. Only sessions that
    /// are not in use are ended, beginning with those that were idle for longest. Returns whether any session was ended.
    fn displace_for(&self, tenant: &Arc<Tenant>) -> bool {
        let (all, held) = (self.limits().sessions, tenant.held(Pool::Sessions));
        // An equal part is at most half of all. A client that repeats a refused request usually has more than that, so its requests cause
        // no search.
        if held >= all / 2 {
            return false;
        }
        let now = self.millis();
        let displaced_none = self.displaced_none.load(Ordering::Relaxed);
        if displaced_none != 0 && now < displaced_none + SEARCH {
            return false;
        }
        let mut others = self.service.shares().holders(Pool::Sessions);
        others.retain(|other| !Arc::ptr_eq(other, tenant));
        let part = (all / (others.len() + 1)).max(1);
        // A tenant that is not known may stand for many clients.
        let largest = others.iter().filter(|other| other.is_known());
        let largest = largest.max_by_key(|other| other.held(Pool::Sessions));
        let Some(largest) = largest.filter(|other| other.held(Pool::Sessions) > part) else {
            // A search costs more than a refusal, so a search in vain is not repeated at once. If this tenant has more than an equal part,
            // its own sessions can be ended for others, so its search predicts nothing about theirs.
            if held <= part {
                self.displaced_none.store(now.max(1), Ordering::Relaxed);
            }
            return false;
        };
        if held >= part {
            return false;
        }
        let none = Duration::ZERO;
        let may_end = |session: &Arc<HttpSession>| {
            Arc::ptr_eq(session.tenant(), largest) && session.is_idle(now, none, none)
        };
        let used = RefCell::new(Vec::new());
        self.sessions.sweep(|session| {
            if may_end(session) {
                used.borrow_mut().push(session.used());
            }
            false
        });
        let mut used = used.into_inner();
        used.sort_unstable();
        // Ends at least enough sessions for a new one. If there are many, it ends more, so that the next search is not due at once. The
        // other tenant keeps an equal part.
        let free = all.saturating_sub(self.service.shares().used(Pool::Sessions));
        let needed = (held.min(all / 8) + 1).saturating_sub(free);
        let above = largest.held(Pool::Sessions).saturating_sub(part);
        let count = needed.max(used.len() / 16).max(1).min(above).min(used.len());
        let Some(last) = count.checked_sub(1).and_then(|index| used.get(index)) else {
            self.displaced_none.store(now.max(1), Ordering::Relaxed);
            return false;
        };
        let left = Cell::new(count);
        self.sessions.sweep(|session| {
            let ends = left.get() > 0 && session.used() <= *last && may_end(session);
            left.set(left.get() - usize::from(ends));
            ends
        });
        true
    }

    /// Milliseconds since the start.
    fn millis(&self) -> u64 {
        self.memory.millis()
    }

    /// Returns the session with this id, if it belongs to this principal. Idle sessions are ended here, because nothing else runs
    /// regularly.
    pub(super) fn find(&self, id: &SessionId, principal: &str) -> Option<Arc<HttpSession>> {
        let now = self.millis();
        self.sweep(now);
        let session = self.sessions.find(id).filter(|session| session.is_of(principal))?;
        session.spoken(now);
        Some(session)
    }

    fn sweep(&self, now: u64) {
        let idle = self.limits().session_idle;
        let swept = self.swept.load(Ordering::Relaxed);
        let is_due = now.saturating_sub(swept) >= self.sweep_period;
        // Only the request that updates the time does the work.
        let claim =
            || self.swept.compare_exchange(swept, now, Ordering::Relaxed, Ordering::Relaxed);
        if is_due && claim().is_ok() {
            self.sessions.sweep(|session| session.is_idle(now, idle, idle));
            self.sessions.for_each(|session| session.tidy());
        }
    }

    /// Ends the streams that would otherwise stay open. Calls go on.
    pub(super) fn stop(&self) {
        self.is_stopping.store(true, Ordering::Release);
        self.service.dispatcher.catalog.bus.stop();
        self.sessions.for_each(|session| session.stop());
        self.sse_sessions.for_each(|session| session.stop());
    }

    /// Waits for running calls, including those of clients that have left, for at most the time `most`.
    pub(super) async fn drain(&self, most: Duration) {
        let until = Instant::now() + most;
        while self.service.calls_waiting() > 0 && Instant::now() < until {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Cancels the calls that still run in sessions, and runs `on_shutdown`.
    pub(super) async fn close(&self) {
        self.stop();
        self.sessions.for_each(|session| session.close());
        self.sse_sessions.for_each(|session| session.close());
        // Calls notice the cancellation at their next poll. They must be gone before `on_shutdown` runs.
        self.drain(Duration::from_secs(1)).await;
        self.sessions.sweep(|_| true);
        let started = self.started.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(started) = started {
            started.stop().await;
        }
    }
}

#[cfg(test)]
mod tests;
