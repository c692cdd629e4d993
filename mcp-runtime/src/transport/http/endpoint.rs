//! What all connections of one HTTP endpoint share.

use std::{
    net::IpAddr,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::time::Instant;

use super::{
    access::Access,
    pair::Mailbox,
    resumable::Memory,
    session::Session,
    table::{Table, unguessable},
};
use crate::{
    builder::{HttpSettings, Started},
    limits::Limits,
    protocol::{Peer, Service},
};

/// How long a session that was opened and never used is kept when there is no room for another one.
const UNUSED: Duration = Duration::from_secs(60);

pub(super) struct Endpoint {
    pub(super) service: Arc<Service>,
    pub(super) settings: HttpSettings,
    pub(super) access: Access,
    pub(super) sessions: Table<Session>,
    /// Those of 2024-11-05.
    pub(super) mailboxes: Table<Mailbox>,
    streams: AtomicUsize,
    memory: Arc<Memory>,
    since: Instant,
    /// When idle sessions were last looked for, in milliseconds `since` the start.
    swept: AtomicU64,
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
            memory: Arc::new(Memory::new(started.limits)),
            since: Instant::now(),
            swept: AtomicU64::new(0),
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
        let permit = taken.ok().map(|_| Permit(self.clone()));
        permit.filter(|_| !self.is_stopping())
    }

    /// A new session that nobody knows of yet.
    ///
    /// # Errors
    /// Why there is none.
    pub(super) fn session(&self) -> Result<Session, String> {
        Ok(Session::new(self.id()?, Peer::new(self.service.clone()), self.memory.clone()))
    }

    /// An id for one more session, when there is room.
    ///
    /// # Errors
    /// Why there is none.
    pub(super) fn id(&self) -> Result<String, String> {
        let limits = self.limits();
        let count = || self.sessions.len() + self.mailboxes.len();
        if count() >= limits.sessions {
            self.sessions.sweep(|it| it.is_idle(limits.session_idle, UNUSED));
        }
        if count() >= limits.sessions {
            return Err(format!("there are {} sessions already: try again later", count()));
        }
        unguessable().map_err(|error| format!("the system gives no random numbers: {error}"))
    }

    /// The session of this id. Those that nobody uses end here, since nothing else comes by regularly.
    pub(super) fn find(&self, id: &str) -> Option<Arc<Session>> {
        self.sweep();
        let session = self.sessions.find(id)?;
        session.spoken();
        Some(session)
    }

    fn sweep(&self) {
        let idle = self.limits().session_idle;
        let millis = |it: Duration| u64::try_from(it.as_millis()).unwrap_or(u64::MAX);
        let (now, swept) = (millis(self.since.elapsed()), self.swept.load(Ordering::Relaxed));
        let is_due = now.saturating_sub(swept) >= millis(idle / 8).max(1);
        // Whoever moves the time forward does the work; the others go on.
        let claim =
            || self.swept.compare_exchange(swept, now, Ordering::Relaxed, Ordering::Relaxed);
        if is_due && claim().is_ok() {
            self.sessions.sweep(|it| it.is_idle(idle, idle));
        }
    }

    /// Ends the streams that nothing else ends; calls go on.
    pub(super) fn stop(&self) {
        self.is_stopping.store(true, Ordering::Release);
        self.service.dispatcher.catalog.bus.stop();
        self.sessions.for_each(|it| it.stop());
        self.mailboxes.for_each(|it| it.stop());
    }

    /// Gives up what still runs in sessions, and runs `on_shutdown`.
    pub(super) async fn close(&self) {
        self.stop();
        self.sessions.for_each(|it| it.close());
        let started = self.started.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(started) = started {
            started.stop().await;
        }
    }
}

/// One of the streams there may be.
pub(super) struct Permit(Arc<Endpoint>);

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.streams.fetch_sub(1, Ordering::AcqRel);
    }
}
