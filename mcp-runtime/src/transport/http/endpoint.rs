//! What all connections of one HTTP endpoint share.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::time::Instant;

use super::{
    access::Access,
    open::OpenConnections,
    pair::Mailbox,
    resumable::Memory,
    session::{KEPT, Session},
    table::{Key, Table},
};
use crate::{
    builder::{HttpSettings, Started},
    limits::{Limit, Limits, Room},
    protocol::{Peer, Remembered, Service},
};

/// How long a session that was opened and never used is kept when there is no room for another one.
const UNUSED: Duration = Duration::from_secs(60);

/// Milliseconds between two looks for such sessions.
const SEARCH: u64 = 100;

pub(super) struct Endpoint {
    pub(super) service: Arc<Service>,
    pub(super) settings: HttpSettings,
    pub(super) access: Access,
    pub(super) sessions: Table<Session>,
    /// Those of 2024-11-05.
    pub(super) mailboxes: Table<Mailbox>,
    streams: AtomicUsize,
    /// Those that are taken, of sessions of either kind.
    places: Arc<AtomicUsize>,
    /// When a session was last looked for that could make room, in milliseconds since the start.
    searched: AtomicU64,
    pub(super) open: OpenConnections,
    /// Bytes of large answers that clients have not read.
    pub(super) answers: Arc<Room>,
    memory: Arc<Memory>,
    /// What sessions share, so that none has it for itself; more than one, so that they seldom wait for each other.
    remembered: [OnceLock<Arc<Remembered>>; 16],
    /// When idle sessions were last looked for, in milliseconds since the start, and how often they are.
    swept: AtomicU64,
    sweep_period: u64,
    is_stopping: AtomicBool,
    started: Mutex<Option<Started>>,
}

impl Endpoint {
    /// `bound` is the address that is listened at, where it is known.
    pub(super) fn new(
        started: Started,
        settings: HttpSettings,
        bound: Option<IpAddr>,
    ) -> Arc<Self> {
        Arc::new(Self {
            service: Service::new(&started),
            access: Access::new(&settings, bound),
            settings,
            sessions: Table::default(),
            mailboxes: Table::default(),
            streams: AtomicUsize::new(0),
            places: Arc::default(),
            searched: AtomicU64::new(0),
            open: OpenConnections::default(),
            answers: Arc::default(),
            memory: Arc::new(Memory::new(started.limits)),
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

    /// One more stream, unless there are too many or the server stops.
    pub(super) fn permit(self: &Arc<Self>) -> Option<Permit> {
        let limit = self.limits().all_streams;
        let room = |it: usize| (it < limit).then_some(it + 1);
        let taken = self.streams.fetch_update(Ordering::AcqRel, Ordering::Acquire, room);
        if taken.is_err() {
            self.service.tally().refuse(Limit::AllStreams);
        }
        let permit = taken.ok().map(|_| Permit(self.clone()));
        permit.filter(|_| !self.is_stopping())
    }

    /// A new session of this principal's that nobody knows of yet.
    ///
    /// # Errors
    /// Why there is none.
    pub(super) fn session(self: &Arc<Self>, principal: &str) -> Result<Session, String> {
        let (place, key) = (self.place(principal)?, id()?);
        let remembered = &self.remembered[key.part(self.remembered.len())];
        let remembered = remembered.get_or_init(|| Remembered::new(&self.service));
        let peer = Peer::remembering(self.service.clone(), remembered.clone());
        Ok(Session::new(key, principal, peer, self.memory.clone(), place))
    }

    /// A place for one more session of this principal's, of either kind.
    ///
    /// # Errors
    /// Why there is none.
    pub(super) fn place(self: &Arc<Self>, principal: &str) -> Result<Place, String> {
        let limits = self.limits();
        let room = |it: usize| (it < limits.sessions).then_some(it + 1);
        let take = || self.places.fetch_update(Ordering::AcqRel, Ordering::Acquire, room).is_ok();
        let taken = take() || {
            // Those that nobody ever used go first; but not every client that is refused looks for them.
            let (idle, now) = (limits.session_idle, self.millis());
            let is_due = now >= self.searched.load(Ordering::Relaxed) + SEARCH;
            if is_due {
                self.searched.store(now, Ordering::Relaxed);
                self.sessions.sweep(|it| it.is_idle(now, idle, idle.min(UNUSED)));
            }
            is_due && (take() || (self.displace(principal, now) && take()))
        };
        if taken {
            Ok(Place(self.places.clone()))
        } else {
            self.service.tally().refuse(Limit::Sessions);
            Err(format!("there are {} sessions already: try again later", limits.sessions))
        }
    }

    /// Ends some of the sessions of whoever has more than half of all, for somebody else: those that were not used for longest. Returns
    /// whether there is somebody.
    fn displace(&self, principal: &str, now: u64) -> bool {
        let mut of: HashMap<Box<str>, Vec<u64>> = HashMap::new();
        self.sessions.for_each(|it| of.entry(it.principal().into()).or_default().push(it.used()));
        let most = of.into_iter().max_by_key(|it| it.1.len());
        // Those who have no name may be many.
        let Some((owner, mut used)) = most.filter(|it| {
            let (owner, used) = it;
            !owner.is_empty() && **owner != *principal && used.len() > self.limits().sessions / 2
        }) else {
            return false;
        };
        used.sort_unstable();
        let last = used[used.len() / 16];
        let none = Duration::ZERO;
        self.sessions
            .sweep(|it| it.is_of(&owner) && it.used() <= last && it.is_idle(now, none, none));
        true
    }

    /// Milliseconds since the start.
    fn millis(&self) -> u64 {
        self.memory.millis()
    }

    /// The session of this id, if it is this principal's. Those that nobody uses end here, since nothing else comes by regularly.
    pub(super) fn find(&self, key: &Key, principal: &str) -> Option<Arc<Session>> {
        let now = self.millis();
        self.sweep(now);
        let session = self.sessions.find(key).filter(|it| it.is_of(principal))?;
        session.spoken(now);
        Some(session)
    }

    fn sweep(&self, now: u64) {
        let idle = self.limits().session_idle;
        let swept = self.swept.load(Ordering::Relaxed);
        let is_due = now.saturating_sub(swept) >= self.sweep_period;
        // Whoever moves the time forward does the work; the others go on.
        let claim =
            || self.swept.compare_exchange(swept, now, Ordering::Relaxed, Ordering::Relaxed);
        if is_due && claim().is_ok() {
            self.sessions.sweep(|it| it.is_idle(now, idle, idle));
            self.sessions.for_each(|it| it.tidy());
        }
    }

    /// Ends the streams that nothing else ends; calls go on.
    pub(super) fn stop(&self) {
        self.is_stopping.store(true, Ordering::Release);
        self.service.dispatcher.catalog.bus.stop();
        self.sessions.for_each(|it| it.stop());
        self.mailboxes.for_each(|it| it.stop());
    }

    /// Waits for the calls that run, also for those whose clients have left.
    pub(super) async fn drain(&self, most: Duration) {
        let until = Instant::now() + most;
        while self.service.calls_waiting() > 0 && Instant::now() < until {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Gives up what still runs in sessions, and runs `on_shutdown`.
    pub(super) async fn close(&self) {
        self.stop();
        self.sessions.for_each(|it| it.close());
        self.mailboxes.for_each(|it| it.close());
        // Calls notice at their next look; what runs at the end must find them gone.
        self.drain(Duration::from_secs(1)).await;
        self.sessions.sweep(|_| true);
        let started = self.started.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(started) = started {
            started.stop().await;
        }
    }
}

/// An id that nobody can guess.
///
/// # Errors
/// Why there is none.
pub(super) fn id() -> Result<Key, String> {
    Key::unguessable().map_err(|error| format!("the system gives no random numbers: {error}"))
}

pub(super) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// One of the sessions there may be.
pub(super) struct Place(Arc<AtomicUsize>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// One of the streams there may be.
pub(super) struct Permit(Arc<Endpoint>);

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.streams.fetch_sub(1, Ordering::AcqRel);
    }
}
