use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, Once, OnceLock, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use super::{
    call::ReplyTo, encode, legacy::LegacySession, listen::ListenStreams, outbox::Outbox,
    questions::PendingQuestions, remembered::Remembered, request::ClientRequest,
    revision::Revision, service::Service,
};
use crate::{
    call::context::{Carrier, Context},
    catalog::{Event, Listener, Snapshot, Topic},
    error::Error,
    limits::{Tenant, Who},
    model::ClientInfo,
    wire::{Id, IdBuf, Raw},
};

/// State that a connection and its calls share. Two of its locks are held at once only in one case: `calls` before `listens`.
pub(crate) struct PeerState {
    pub(super) service: Arc<Service>,
    /// Outbox for messages that belong to no request, such as notifications of a session and of listen streams.
    pub(crate) outbox: Arc<Outbox>,
    remembered: Arc<Remembered>,
    session: Mutex<LegacySession>,
    /// Made with the first call, stream or question. Most peers never have one, and idle sessions are many.
    ongoing: OnceLock<Box<OngoingWork>>,
    /// Whether this peer is registered with the event bus, by topic.
    hears: [Once; 4],
    /// Number of this peer, unique in the process. Callers without a principal are counted by it.
    number: u64,
    /// Tenant of the session or the connection. Requests without a session over HTTP each have their own.
    tenant: Option<Arc<Tenant>>,
}

/// Work that continues after the message that began it has been handled.
#[derive(Default)]
pub(super) struct OngoingWork {
    listens: Mutex<ListenStreams>,
    questions: Mutex<PendingQuestions>,
    calls: Mutex<HashMap<IdBuf, Context>>,
}

impl PeerState {
    /// `tenant` makes the tenant that all requests count for, from a number that no other peer has.
    pub(super) fn new(
        service: Arc<Service>,
        remembered: Arc<Remembered>,
        tenant: impl FnOnce(&Service, u64) -> Option<Arc<Tenant>>,
    ) -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let number = LAST.fetch_add(1, Ordering::Relaxed);
        Self {
            tenant: tenant(&service, number),
            service,
            outbox: Arc::default(),
            remembered,
            session: Mutex::default(),
            ongoing: OnceLock::new(),
            hears: [const { Once::new() }; 4],
            number,
        }
    }

    /// Returns the tenant that a request counts for.
    pub(super) fn tenant(&self, carrier: &Carrier, revision: Revision) -> Arc<Tenant> {
        let shares = self.service.shares();
        if revision.is_modern() && carrier.is_http() {
            return shares.tenant(Who::sends(carrier));
        }
        let principal = carrier.principal();
        match &self.tenant {
            Some(tenant) if tenant.principal() == principal => tenant.clone(),
            // A test client may name several callers on one connection.
            _ if principal.is_empty() => shares.tenant(Who::Peer(self.number)),
            _ => shares.tenant(Who::Principal(principal)),
        }
    }

    /// Returns the caller of a request, as far as the caller is known.
    pub(super) fn who<'a>(&self, request: &ClientRequest<'a>, revision: Revision) -> Who<'a> {
        let carrier = request.carrier;
        match carrier.principal() {
            "" if revision.is_modern() && carrier.is_http() => Who::sends(carrier),
            "" => Who::Peer(self.number),
            principal => Who::Principal(principal),
        }
    }

    /// Makes the bus pass events of this topic to this peer. A peer to which no client listens is never registered.
    pub(super) fn hear(self: &Arc<Self>, topic: Topic) {
        self.hears[topic as usize].call_once(|| {
            let listener: Arc<dyn Listener> = self.clone();
            self.service.dispatcher.catalog.bus.listen(topic, Arc::downgrade(&listener));
        });
    }

    /// Returns the ongoing work, if there has ever been any.
    pub(super) fn ongoing(&self) -> Option<&OngoingWork> {
        self.ongoing.get().map(|it| &**it)
    }

    /// Returns the ongoing work, to add to it.
    pub(super) fn begin(&self) -> &OngoingWork {
        self.ongoing.get_or_init(Box::default)
    }

    pub(super) fn session(&self) -> MutexGuard<'_, LegacySession> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn client(&self, info: Option<Raw<'_>>, capabilities: Raw<'_>) -> Arc<ClientInfo> {
        self.remembered.client(info, capabilities)
    }

    pub(super) fn snapshot(&self) -> Arc<Snapshot> {
        self.remembered.snapshot(&self.service)
    }

    pub(super) fn error(
        &self,
        revision: Revision,
        id: Option<Id<'_>>,
        error: &Error,
        to: &ReplyTo,
    ) {
        encode::log_internal(error);
        to.write(|out| encode::error(out, revision, id, error));
    }

    /// Answers a request with an error.
    pub(super) fn refuse(&self, request: &ClientRequest<'_>, revision: Revision, error: &Error) {
        self.error(revision, Some(request.id), error, request.to);
    }

    /// Answers a request with an empty result.
    pub(super) fn acknowledge(&self, request: &ClientRequest<'_>, revision: Revision) {
        request.to.write(|out| encode::empty(out, &self.service, revision, request.id));
    }

    /// Returns the memory of this peer in bytes, without parts that are shared with other peers and without waiting events.
    #[cfg(all(test, feature = "http"))]
    pub(super) fn kept(&self) -> usize {
        let ongoing = self.ongoing().map_or(0, size_of_val);
        size_of_val(self) + ongoing + self.session().boxed() + self.outbox.kept()
    }

    /// Returns the revision to use if no message names one: that of the session, or the newest legacy revision before there is a session.
    pub(super) fn spoken(&self) -> Revision {
        self.session().revision().unwrap_or(Revision::NEWEST_LEGACY)
    }
}

impl OngoingWork {
    pub(super) fn calls(&self) -> MutexGuard<'_, HashMap<IdBuf, Context>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn listens(&self) -> MutexGuard<'_, ListenStreams> {
        self.listens.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn questions(&self) -> MutexGuard<'_, PendingQuestions> {
        self.questions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PeerState {
    fn push(&self, stream: Option<&IdBuf>, event: &Event, message: Vec<u8>) {
        match event {
            Event::TaskChanged(task) => self.outbox.push_news(stream, &task.id, message),
            _ => self.outbox.push_event(stream, message),
        }
    }
}

impl Listener for PeerState {
    fn stop(&self) {
        let Some(ongoing) = self.ongoing() else { return };
        let mut listens = ongoing.listens();
        for message in listens.results(&self.service) {
            self.outbox.push_after_events(|out| out.extend_from_slice(&message));
        }
        listens.clear();
    }

    fn notify(&self, event: &Event) {
        let of_session = self.session().notifications(event);
        for message in of_session {
            self.push(None, event, message);
        }
        let Some(ongoing) = self.ongoing() else { return };
        // The lock is held so that no stream ends before its message is in the outbox.
        let listens = ongoing.listens();
        for (id, message) in listens.notifications(event) {
            self.push(Some(id), event, message);
        }
    }
}
