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

#[cfg(feature = "playground")]
use super::playground::PlaygroundPage;
use super::{
    access::HostAccess,
    open_connections::OpenConnections,
    session::{HttpSession, KEPT, SseSession},
    session_table::{SessionId, SessionTable},
    shared_sessions::SharedSessions,
    sse::{EventMemory, millis},
};
use crate::{
    call::context::Carrier,
    limits::{ByteBudget, CallerKey, Limit, Limits, NoShare, Pool, Share, Tenant},
    protocol::{Peer, Remembered, Service},
    server::{HttpSettings, Started},
};

/// Time for which an unused session is kept while the limit on sessions is reached. A session is unused if no request has followed
/// `initialize`.
const UNUSED: Duration = Duration::from_secs(60);

/// Minimum time between two searches for unused sessions, in milliseconds. It also applies after a search that found no session to
/// displace.
const SEARCH: u64 = 100;

/// Maximum time for which a server that stops waits until the streams of its sessions are stored.
const LAST_WRITES: Duration = Duration::from_secs(1);

pub(super) struct Endpoint {
    pub(super) service: Arc<Service>,
    pub(super) settings: HttpSettings,
    pub(super) access: HostAccess,
    pub(super) sessions: SessionTable<HttpSession>,
    /// Set if the server has several nodes.
    pub(super) shared: Option<SharedSessions>,
    /// Sessions of protocol revision 2024-11-05.
    pub(super) sse_sessions: Arc<SessionTable<SseSession>>,
    /// Time of the last search for unused sessions, in milliseconds since the start.
    searched: AtomicU64,
    /// Time of the last search that found no session to displace, in milliseconds since the start. Zero before the first such search.
    displaced_none: AtomicU64,
    pub(super) connections: OpenConnections,
    /// Set if the server serves the playground.
    #[cfg(feature = "playground")]
    pub(super) playground: Option<PlaygroundPage>,
    /// Number of bytes of large responses that clients have not read.
    pub(super) answers: Arc<ByteBudget>,
    memory: Arc<EventMemory>,
    /// Caches of the sessions. The session id selects one of them, so that sessions seldom contend for the same cache.
    remembered: [OnceLock<Arc<Remembered>>; 16],
    /// Time of the last search for idle sessions, in milliseconds since the start. `sweep_period` is the minimum time until the next
    /// search, in milliseconds.
    swept: AtomicU64,
    sweep_period: u64,
    is_draining: AtomicBool,
    is_stopping: AtomicBool,
    started: Mutex<Option<Started>>,
}

impl Endpoint {
    /// Creates an endpoint. `bound` is the address that the server listens on, if it is known.
    pub(super) fn new(
        started: Started,
        settings: HttpSettings,
        bound: Option<IpAddr>,
    ) -> Arc<Self> {
        Arc::new(Self {
            service: Service::new(&started),
            access: HostAccess::new(&settings, bound),
            #[cfg(feature = "playground")]
            playground: PlaygroundPage::of(&settings),
            settings,
            sessions: SessionTable::default(),
            shared: started
                .node
                .as_ref()
                .map(|node| SharedSessions::new(node.clone(), &started.limits)),
            sse_sessions: Arc::default(),
            searched: AtomicU64::new(0),
            displaced_none: AtomicU64::new(0),
            connections: OpenConnections::new(&started.limits),
            answers: Arc::default(),
            memory: Arc::new(EventMemory::new(started.limits)),
            remembered: Default::default(),
            swept: AtomicU64::new(0),
            sweep_period: millis(KEPT.min(started.limits.session_idle / 8)).max(1),
            is_draining: AtomicBool::new(false),
            is_stopping: AtomicBool::new(false),
            started: Mutex::new(Some(started)),
        })
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.service.limits
    }

    /// Begins the drain: the server still accepts connections, but `/readyz` reports that it is stopping.
    pub(super) fn begin_drain(&self) {
        self.is_draining.store(true, Ordering::Release);
    }

    /// Whether the drain has begun, which may also be over.
    pub(super) fn is_draining(&self) -> bool {
        self.is_draining.load(Ordering::Acquire)
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::Acquire)
    }

    /// Takes one unit of the limit on streams. Returns `None` if the tenant may hold no more units, or if the server is stopping.
    pub(super) fn permit(&self, tenant: &Arc<Tenant>) -> Option<Share> {
        let taken = tenant.take(Pool::Streams, 1, self.limits().all_streams);
        if taken.is_err() {
            self.service.tally().refuse(Limit::AllStreams);
        }
        taken.ok().filter(|_| !self.is_stopping())
    }

    /// Returns the tenant whose limits a request counts against.
    pub(super) fn tenant(&self, carrier: &Carrier) -> Arc<Tenant> {
        self.service.shares().tenant(CallerKey::of_sender(carrier))
    }

    /// Creates a session. The caller adds the session to the table.
    ///
    /// # Errors
    /// Returns the reason for the refusal.
    pub(super) fn new_session(&self, carrier: &Carrier) -> Result<HttpSession, String> {
        self.session(SessionId::unguessable()?, carrier)
    }

    /// Creates the session with this id, which may have begun at another node. The caller adds the session to the table.
    ///
    /// # Errors
    /// Returns the reason for the refusal.
    pub(super) fn session(&self, id: SessionId, carrier: &Carrier) -> Result<HttpSession, String> {
        let tenant = self.tenant(carrier);
        let share = self.share(&tenant)?;
        let remembered = &self.remembered[id.part(self.remembered.len())];
        let remembered = remembered.get_or_init(|| Remembered::new(&self.service));
        let peer = Peer::of_tenant(self.service.clone(), remembered.clone(), tenant);
        Ok(HttpSession::new(id, peer, self.memory.clone(), share))
    }

    /// Takes one unit of the limit on sessions, for a session of Streamable HTTP or of HTTP+SSE. At the limit, first tries to end sessions
    /// that are unused or idle, and then sessions of a tenant with more than an equal part.
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

    /// Ends sessions that were opened and never used, and sessions that are idle. Searches for them at most once every [`SEARCH`]
    /// milliseconds, even if many requests are refused in this time.
    fn end_unused(&self) {
        let (now, searched) = (self.millis(), self.searched.load(Ordering::Relaxed));
        if now >= searched + SEARCH {
            self.searched.store(now, Ordering::Relaxed);
            let idle = self.limits().session_idle;
            self.sessions.sweep(|session| session.is_idle(now, idle, idle.min(UNUSED)));
        }
    }

    /// Makes room for a session of `tenant`, if this tenant has less than an equal part of all sessions. Ends some sessions of the tenant
    /// with the most sessions. Only sessions that are not in use are ended, the longest idle first. Returns whether any session was
    /// ended.
    fn displace_for(&self, tenant: &Arc<Tenant>) -> bool {
        let (all, held) = (self.limits().sessions, tenant.held(Pool::Sessions));
        // An equal part is at most half of all sessions, so a tenant that holds half of them has no right to more. A client whose request
        // was refused, and which tries again, usually holds more than half. For such a client, this check avoids a search at each attempt.
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
        // An unidentified tenant may stand for many clients, so none of its sessions are displaced.
        let largest = others.iter().filter(|other| other.is_known());
        let largest = largest.max_by_key(|other| other.held(Pool::Sessions));
        let Some(largest) = largest.filter(|other| other.held(Pool::Sessions) > part) else {
            // Records the failed search, so that the next requests are refused without another search, which costs more than the refusal.
            // If this tenant itself holds more than an equal part, the failure is not recorded, because other tenants may still displace
            // sessions of this tenant.
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
        // Ends at least as many sessions as the tenant needs for a new one. If many sessions could be ended, ends a sixteenth of them, so
        // that the next request does not need another search. The largest tenant keeps an equal part.
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

    /// Returns the time since the start, in milliseconds.
    fn millis(&self) -> u64 {
        self.memory.millis()
    }

    /// Returns the session with this id, if it belongs to this principal. Also ends idle sessions at intervals, because no timer does so.
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
        // Only the request that updates `swept` performs the sweep.
        let claim =
            || self.swept.compare_exchange(swept, now, Ordering::Relaxed, Ordering::Relaxed);
        if is_due && claim().is_ok() {
            self.sessions.sweep(|session| session.is_idle(now, idle, idle));
            self.sessions.for_each(|session| session.tidy());
        }
    }

    /// Ends the streams that would otherwise stay open. Running calls continue.
    pub(super) fn stop(&self) {
        // From now on each response closes its connection, as during the drain.
        self.begin_drain();
        self.is_stopping.store(true, Ordering::Release);
        self.service.dispatcher.catalog.bus.stop();
        self.sessions.for_each(|session| session.stop());
        if let Some(shared) = &self.shared {
            shared.detach_all(None);
        }
        self.sse_sessions.for_each(|session| session.stop());
    }

    /// Waits until no call is running, but no longer than `most`. Calls of disconnected clients count too.
    pub(super) async fn finish_calls(&self, most: Duration) {
        let until = Instant::now() + most;
        while self.service.calls_waiting() > 0 && Instant::now() < until {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Cancels the calls that still run in sessions, and runs `on_shutdown`.
    pub(super) async fn close(&self) {
        self.stop();
        if let Some(shared) = &self.shared {
            shared.begin_close();
        }
        self.sessions.for_each(|session| session.close());
        self.sse_sessions.for_each(|session| session.close());
        // A cancelled call ends only when it is polled again. Waits for these calls, so that none of them still runs during `on_shutdown`.
        self.finish_calls(Duration::from_secs(1)).await;
        self.sessions.sweep(|_| true);
        if let Some(shared) = &self.shared {
            shared.finish_logs(LAST_WRITES).await;
            shared.sse_owners.end().await;
        }
        let started = self.started.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(started) = started {
            started.stop().await;
        }
    }
}

#[cfg(test)]
mod tests;
