//! State of a peer: its session, its ongoing work, and the results that it keeps between requests.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{
        Arc, Mutex, MutexGuard, Once, OnceLock, PoisonError, Weak,
        atomic::{AtomicU64, Ordering},
    },
};

use mcp_runtime_wire::{Id, IdBuf, Raw};
use tokio::sync::oneshot;

use super::{
    outbox::Outbox, revision::Revision, service::Service, session::LegacySession,
    subscriptions::ListenStreams,
};
use crate::{
    call::context::{Carrier, Context},
    catalog::{Event, Listener, Snapshot, Topic},
    limits::{CallerKey, Tenant},
    model::{ClientInfo, Meta},
};

/// State that a connection shares with its calls. Only two of its locks may be held at the same time: `calls`, and then `listens`.
pub(super) struct PeerState {
    pub(super) service: Arc<Service>,
    /// Outbox for notifications of a session and of listen streams. It also takes responses, unless the transport has another outbox for them.
    pub(super) outbox: Arc<Outbox>,
    remembered: Arc<Remembered>,
    session: Mutex<LegacySession>,
    /// Created with the first call, stream or question. Most peers are idle sessions that never need it, so this saves memory.
    ongoing: OnceLock<Box<OngoingWork>>,
    /// Whether this peer is registered with the event bus, by topic.
    registered: [Once; 4],
    /// Number of this peer, unique in the process. It identifies a caller without a principal.
    number: u64,
    /// Tenant of the session or of the connection. `None` for HTTP requests without a session, each of which has its own tenant.
    tenant: Option<Arc<Tenant>>,
}

/// Calls, streams and questions that continue after the message that began them has been handled.
#[derive(Default)]
pub(super) struct OngoingWork {
    listens: Mutex<ListenStreams>,
    questions: Mutex<PendingQuestions>,
    calls: Mutex<HashMap<IdBuf, Context>>,
}

impl PeerState {
    /// Creates the state of a peer. `tenant` receives the number of the peer, and returns the tenant to which all requests of the peer are
    /// charged. It returns `None` if each request has its own tenant.
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
            registered: [const { Once::new() }; 4],
            number,
        }
    }

    /// Returns the tenant to which a request is charged.
    pub(super) fn tenant(&self, carrier: &Carrier, revision: Revision) -> Arc<Tenant> {
        let shares = self.service.shares();
        if revision.is_modern() && carrier.is_http() {
            return shares.tenant(CallerKey::of_sender(carrier));
        }
        let principal = carrier.principal();
        match &self.tenant {
            Some(tenant) if tenant.principal() == principal => tenant.clone(),
            // The principal of a request can differ from that of the tenant, because a test client may act for several callers on one
            // connection.
            _ if principal.is_empty() => shares.tenant(CallerKey::Peer(self.number)),
            _ => shares.tenant(CallerKey::Principal(principal)),
        }
    }

    /// Returns the key that identifies the caller of a request.
    pub(super) fn who<'a>(&self, carrier: &'a Carrier, revision: Revision) -> CallerKey<'a> {
        match carrier.principal() {
            "" if revision.is_modern() && carrier.is_http() => CallerKey::of_sender(carrier),
            "" => CallerKey::Peer(self.number),
            principal => CallerKey::Principal(principal),
        }
    }

    /// Registers this peer with the event bus for this topic. A peer is registered only for topics whose events its client wants.
    pub(super) fn register(self: &Arc<Self>, topic: Topic) {
        self.registered[topic as usize].call_once(|| {
            let listener: Arc<dyn Listener> = self.clone();
            self.service.dispatcher.catalog.bus.listen(topic, Arc::downgrade(&listener));
        });
    }

    /// Returns the ongoing work, if there has ever been any.
    pub(super) fn ongoing(&self) -> Option<&OngoingWork> {
        self.ongoing.get().map(|ongoing| &**ongoing)
    }

    /// Returns the ongoing work, and creates it if there is none.
    pub(super) fn ongoing_or_new(&self) -> &OngoingWork {
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

    /// Returns the memory of this peer in bytes, without parts that are shared with other peers and without waiting events.
    #[cfg(all(test, feature = "http"))]
    pub(super) fn kept(&self) -> usize {
        let ongoing = self.ongoing().map_or(0, size_of_val);
        size_of_val(self) + ongoing + self.session().boxed() + self.outbox.kept()
    }

    /// Returns the revision for messages that name none: the revision of the session, or the newest legacy revision before a session
    /// begins.
    pub(super) fn revision(&self) -> Revision {
        self.session().revision().unwrap_or(Revision::NEWEST_LEGACY)
    }

    fn push(&self, stream: Option<&IdBuf>, event: &Event, message: Vec<u8>) {
        match event {
            Event::TaskChanged(task) => self.outbox.push_task_state(stream, &task.id, message),
            _ => self.outbox.push_event(stream, message),
        }
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

impl Listener for PeerState {
    fn stop(&self) {
        let Some(ongoing) = self.ongoing() else { return };
        let mut listens = ongoing.listens();
        for message in listens.results(&self.service) {
            self.outbox.push_after_events(|out| out.extend_from_slice(&message));
        }
        listens.clear();
    }

    fn add_subscribed(&self, uris: &mut BTreeSet<String>) {
        uris.extend(self.session().subscribed().map(str::to_owned));
        if let Some(ongoing) = self.ongoing() {
            uris.extend(ongoing.listens().subscribed().map(str::to_owned));
        }
    }

    fn follows_task(&self, id: &str) -> bool {
        self.session().follows_task(id)
            || self.ongoing().is_some_and(|ongoing| ongoing.listens().follows_task(id))
    }

    fn notify(&self, event: &Event) {
        let of_session = self.session().notifications(event);
        for message in of_session {
            self.push(None, event, message);
        }
        let Some(ongoing) = self.ongoing() else { return };
        // Holds the lock of the streams, so that no stream ends before its message is in the outbox.
        let mut listens = ongoing.listens();
        for (id, message) in listens.notifications(event) {
            self.push(Some(id), event, message);
        }
    }
}

/// Answer of a client: the JSON text of its result, or the message of its error.
pub(super) type QuestionAnswer = Result<Box<str>, String>;

/// Questions that wait for their answers, by request id. A session never uses an id twice (rule RPC-07).
#[derive(Default)]
pub(super) struct PendingQuestions {
    last: u64,
    /// Sorted by request id, because new questions have higher ids.
    pub(super) waiting: Vec<(u64, oneshot::Sender<QuestionAnswer>)>,
    /// Roots that the client sent last. They are kept only if the client announces changes (rule ROOTS-02).
    pub(super) roots: Option<Box<str>>,
    /// Number of times that the roots of the client have changed.
    pub(super) changes: u64,
}

impl PendingQuestions {
    /// Drops the stored roots, because the roots of the client have changed.
    pub(super) fn forget_roots(&mut self) {
        self.roots = None;
        self.changes += 1;
    }

    /// Returns whether a question waits for its answer, or roots are stored.
    #[cfg(feature = "http")]
    pub(super) fn is_in_use(&self) -> bool {
        !self.waiting.is_empty() || self.roots.is_some()
    }

    /// Opens a question. Its id is higher than `first`, so that the nodes of a server give the questions of a session different ids.
    pub(super) fn open(&mut self, first: u64) -> (u64, oneshot::Receiver<QuestionAnswer>) {
        self.last = self.last.max(first) + 1;
        let (answer, waiting) = oneshot::channel();
        self.waiting.push((self.last, answer));
        (self.last, waiting)
    }

    /// Removes and returns the sender that waits for the response with this id. Returns `None` if the response is late, or does not belong
    /// to a question.
    pub(super) fn take(&mut self, id: Id<'_>) -> Option<oneshot::Sender<QuestionAnswer>> {
        self.remove(id.as_str().parse().ok()?)
    }

    /// Returns whether a question waits for the response with this id.
    #[cfg(feature = "http")]
    pub(super) fn waits_for(&self, id: Id<'_>) -> bool {
        let is_open =
            |id: u64| self.waiting.binary_search_by_key(&id, |question| question.0).is_ok();
        id.as_str().parse().is_ok_and(is_open)
    }

    /// Removes and returns the sender that waits for the response to the request `id`.
    pub(super) fn remove(&mut self, id: u64) -> Option<oneshot::Sender<QuestionAnswer>> {
        let at = self.waiting.binary_search_by_key(&id, |question| question.0).ok()?;
        Some(self.waiting.remove(at).1)
    }
}

/// Cache for the requests of a connection, so that they need not compute a result again. The cache never changes a response (rule ERA-01).
pub(crate) struct Remembered {
    client: Mutex<LastClient>,
    /// Snapshot of the catalog, valid until the epoch of the catalog changes. Requests that use it take no lock that other connections
    /// share. The reference is weak, so that an idle connection does not keep an old catalog alive.
    snapshot: Mutex<Weak<Snapshot>>,
}

impl Remembered {
    pub(crate) fn new(service: &Service) -> Arc<Self> {
        let snapshot = Mutex::new(Arc::downgrade(&service.dispatcher.catalog.snapshot()));
        Arc::new(Self { client: Mutex::default(), snapshot })
    }

    fn client(&self, info: Option<Raw<'_>>, capabilities: Raw<'_>) -> Arc<ClientInfo> {
        let mut last = self.client.lock().unwrap_or_else(PoisonError::into_inner);
        last.client(info, capabilities)
    }

    fn snapshot(&self, service: &Service) -> Arc<Snapshot> {
        let mut kept = self.snapshot.lock().unwrap_or_else(PoisonError::into_inner);
        let catalog = &service.dispatcher.catalog;
        if let Some(snapshot) = kept.upgrade().filter(|snapshot| snapshot.epoch == catalog.epoch())
        {
            return snapshot;
        }
        let snapshot = catalog.snapshot();
        *kept = Arc::downgrade(&snapshot);
        snapshot
    }
}

/// Last client of a connection. Clients send the same description in each request, so the server parses it again only if the text differs.
#[derive(Default)]
struct LastClient {
    info: String,
    capabilities: String,
    client: Arc<ClientInfo>,
}

impl LastClient {
    fn client(&mut self, info: Option<Raw<'_>>, capabilities: Raw<'_>) -> Arc<ClientInfo> {
        let text = info.map_or("", Raw::as_str);
        if self.info != text || self.capabilities != capabilities.as_str() {
            self.client = Arc::new(read_client(info, Some(capabilities)));
            text.clone_into(&mut self.info);
            capabilities.as_str().clone_into(&mut self.capabilities);
        }
        self.client.clone()
    }
}

/// Reads `clientInfo` and `capabilities` of either era.
fn read_client(info: Option<Raw<'_>>, capabilities: Option<Raw<'_>>) -> ClientInfo {
    let member = |name: &str| info.and_then(|info| info.get(name)).and_then(Raw::string);
    ClientInfo {
        name: member("name").unwrap_or_default().into_owned(),
        version: member("version").unwrap_or_default().into_owned(),
        title: member("title").map(Into::into),
        capabilities: Meta(
            capabilities
                .and_then(|json| serde_json::from_str(json.as_str()).ok())
                .unwrap_or_default(),
        ),
    }
}
