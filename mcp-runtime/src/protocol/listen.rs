//! `subscriptions/listen`: the streams on which a client of the modern era receives events.

#[cfg(feature = "auth")]
use std::collections::BTreeSet;
use std::{collections::HashSet, sync::Arc};

use super::{
    encode,
    legacy::list_changed,
    method::invalid,
    outbox::OutboxHold,
    peer::Peer,
    request::{ClientRequest, Terms, id_in_use},
    revision::Revision,
    service::{Feature, Service},
    tasks::demand_extension,
    turn::{Received, RefusalStatus},
    uris::SubscribedUris,
};
#[cfg(feature = "auth")]
use super::{turn::RefusedRequest, uris::too_many};
use crate::{
    catalog::{Event, Listener as _, Topic},
    error::{Error, Kind},
    limits::{Limit, Tenant},
    task::LiveTask,
    wire::{self, Array, Id, IdBuf, Kind as JsonKind, Object, Raw},
};

const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// Open listen streams of one connection.
#[derive(Default)]
pub(crate) struct ListenStreams(Vec<ListenStream>);

struct ListenStream {
    id: IdBuf,
    revision: Revision,
    filter: EventFilter,
    _hold: OutboxHold,
}

/// Events that a stream wants, as far as the server has them.
#[derive(Default)]
struct EventFilter {
    tools: bool,
    prompts: bool,
    resources: bool,
    uris: SubscribedUris,
    /// Running tasks that belong to the caller of the stream.
    tasks: Vec<Arc<LiveTask>>,
}

impl EventFilter {
    fn wants(&self, event: &Event) -> bool {
        match event {
            Event::ToolsChanged => self.tools,
            Event::PromptsChanged => self.prompts,
            Event::ResourcesChanged => self.resources,
            Event::ResourceUpdated(uri) => self.uris.get(uri).is_some(),
            Event::TaskChanged(task) => self.tasks.iter().any(|it| *it.id() == task.id),
            Event::UrlCompleted(_) => false,
        }
    }

    fn write(&self, object: &mut Object<'_>) {
        for (name, wanted) in [
            ("toolsListChanged", self.tools),
            ("promptsListChanged", self.prompts),
            ("resourcesListChanged", self.resources),
        ] {
            if wanted {
                object.bool(name, true);
            }
        }
        if self.uris.len() > 0 {
            let mut uris: Array<'_> = object.array("resourceSubscriptions");
            for uri in self.uris.iter() {
                uris.str(uri);
            }
        }
        if !self.tasks.is_empty() {
            let mut ids = object.array("taskIds");
            for task in &self.tasks {
                ids.str(task.id());
            }
        }
    }
}

/// Writes the id of a stream, with the JSON type that the client gave it (rule C-14).
fn subscription_meta(object: &mut Object<'_>, id: &IdBuf) {
    object.object("_meta").raw(SUBSCRIPTION, id.as_id().as_str());
}

impl ListenStreams {
    /// Returns a notification for each stream that wants the event, tagged with the id of the stream.
    pub(super) fn notifications(&self, event: &Event) -> impl Iterator<Item = (&IdBuf, Vec<u8>)> {
        let wanting = self.0.iter().filter(move |it| it.filter.wants(event));
        wanting.map(move |listen| {
            let mut out = Vec::new();
            if let Event::TaskChanged(task) = event {
                let stream = Some((SUBSCRIPTION, &listen.id));
                encode::task_changed(&mut out, listen.revision, task, stream);
                return (&listen.id, out);
            }
            let method = list_changed(event).unwrap_or("notifications/resources/updated");
            wire::notification(&mut out, method, |params| {
                if let Event::ResourceUpdated(uri) = event {
                    params.str("uri", listen.filter.uris.get(uri).unwrap_or(uri));
                }
                subscription_meta(params, &listen.id);
            });
            (&listen.id, out)
        })
    }

    pub(super) fn contains(&self, id: Id<'_>) -> bool {
        self.0.iter().any(|it| it.id.as_id() == id)
    }

    pub(super) fn remove(&mut self, id: Id<'_>) {
        self.0.retain(|it| it.id.as_id() != id);
    }

    /// Returns the empty result that ends each stream (rule SUB-04).
    pub(super) fn results(&self, service: &Service) -> impl Iterator<Item = Vec<u8>> {
        self.0.iter().map(|ListenStream { id, .. }| {
            let mut result = Vec::new();
            wire::response(&mut result, id.as_id(), |result| {
                encode::listen_result(result, service, SUBSCRIPTION, id.as_id());
            });
            result
        })
    }

    /// Returns the cancellation of each stream.
    fn cancellations(&self) -> impl Iterator<Item = Vec<u8>> {
        self.0.iter().map(|ListenStream { id, .. }| {
            let mut cancelled = Vec::new();
            wire::notification(&mut cancelled, "notifications/cancelled", |params| {
                params.raw("requestId", id.as_id().as_str()).str("reason", "the server stops");
                subscription_meta(params, id);
            });
            cancelled
        })
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

impl Peer {
    /// Ends the listen streams as the protocol demands on a connection that may carry several of them: each is cancelled before its result
    /// (rule SUB-04).
    pub(crate) fn close(&self) {
        let Some(ongoing) = self.state.ongoing() else { return };
        let mut listens = ongoing.listens();
        let service = &self.state.service;
        for (cancelled, result) in listens.cancellations().zip(listens.results(service)) {
            for message in [cancelled, result] {
                self.state.outbox.push_after_events(|out| out.extend_from_slice(&message));
            }
        }
        listens.clear();
    }

    /// Ends a listen stream that its client has cancelled. Events that have not been sent are dropped.
    pub(super) fn end_listen(&self, id: Id<'_>) {
        let Some(ongoing) = self.state.ongoing() else { return };
        let mut listens = ongoing.listens();
        listens.remove(id);
        self.state.outbox.forget_events(id);
    }

    pub(super) fn listen(
        &self,
        terms: &Terms,
        request: &ClientRequest<'_>,
        received: &mut Received,
    ) {
        let state = &self.state;
        let revision = terms.revision;
        #[cfg(feature = "auth")]
        if let Err(refused) = self.permit_listening(request) {
            return self.reject(request, revision, refused, received);
        }
        state.hear(Topic::Lists);
        match self.open(terms, request) {
            Err(error) if error.kind() == Kind::Failed => {
                self.reject(request, revision, RefusalStatus::Busy.because(error), received);
            }
            Err(error) if error.kind() == Kind::MissingCapability => {
                self.reject(request, revision, RefusalStatus::Malformed.because(error), received);
            }
            Err(error) => state.refuse(request, revision, &error),
            Ok(listen) => {
                if listen.filter.uris.len() > 0 {
                    state.hear(Topic::Resources);
                }
                if !listen.filter.tasks.is_empty() {
                    state.hear(Topic::Tasks);
                }
                // The lock is held because no event may come before the acknowledgement, the stream's first message (rule SUB-02).
                let mut listens = state.begin().listens();
                state.outbox.push(|out| {
                    wire::notification(out, "notifications/subscriptions/acknowledged", |params| {
                        listen.filter.write(&mut params.object("notifications"));
                        subscription_meta(params, &listen.id);
                    });
                });
                // Sends the current state of each task, because nothing else reports changes from before this moment.
                for task in &listen.filter.tasks {
                    let stream = Some((SUBSCRIPTION, &listen.id));
                    let view = task.view();
                    state.outbox.push(|out| encode::task_changed(out, revision, &view, stream));
                }
                listens.0.push(listen);
                drop(listens);
                if state.service.dispatcher.catalog.bus.is_stopped() {
                    state.stop();
                }
            }
        }
    }

    /// Checks that the caller may subscribe to the resources that it names.
    #[cfg(feature = "auth")]
    fn permit_listening(&self, request: &ClientRequest<'_>) -> Result<(), RefusedRequest> {
        let wanted = request.params.get("notifications");
        let named = wanted.and_then(|it| it.get("resourceSubscriptions"));
        let named = named.filter(|it| it.kind() == JsonKind::Array);
        let (service, mut uris) = (&self.state.service, BTreeSet::new());
        // Values that are not strings are rejected later.
        for uri in named.into_iter().flat_map(Raw::elements).filter_map(Raw::string) {
            uris.insert(uri);
            // Checks no more URIs than a client may subscribe to.
            if uris.len() > service.limits.subscriptions {
                let (limit, error) = too_many(&service.limits, true);
                return Err(service.note(limit, error).into());
            }
        }
        self.permit_uris(&self.state.snapshot(), request, uris.iter().map(|it| &**it))
    }

    fn open(&self, terms: &Terms, request: &ClientRequest<'_>) -> Result<ListenStream, Error> {
        let state = &self.state;
        let wanted = request.params.get("notifications");
        let Some(wanted) = wanted.filter(|it| it.kind() == JsonKind::Object) else {
            return Err(invalid("`notifications` must be an object that says what to listen for"));
        };
        let id = request.id;
        let (used, streams, uris) = state.ongoing().map_or((false, 0, 0), |ongoing| {
            let listens = ongoing.listens();
            let uris = listens.0.iter().map(|it| it.filter.uris.len()).sum();
            (listens.contains(id), listens.0.len(), uris)
        });
        if used || state.ongoing().is_some_and(|it| it.calls().contains_key(id.as_str())) {
            return Err(id_in_use());
        }
        let limits = state.service.limits;
        if streams >= limits.streams {
            let text = format!("{streams} listen streams are open already: close some of them");
            return Err(state.service.note(Limit::Streams, Error::of(Kind::Failed, text)));
        }
        let tenant = state.tenant(request.carrier, terms.revision);
        let mut filter = self.honoured(wanted, uris, &tenant)?;
        filter.tasks = self.tasks_of(wanted.get("taskIds"), terms, request)?;
        let revision = terms.revision;
        Ok(ListenStream { id: id.to_owned(), revision, filter, _hold: state.outbox.hold() })
    }

    /// Returns the named tasks that can have news for this client. Tasks that have ended or belong to another caller are left out.
    fn tasks_of(
        &self,
        ids: Option<Raw<'_>>,
        terms: &Terms,
        request: &ClientRequest<'_>,
    ) -> Result<Vec<Arc<LiveTask>>, Error> {
        let Some(ids) = ids else { return Ok(Vec::new()) };
        demand_extension(&terms.client, "`taskIds`")?;
        let wrong = || invalid("`taskIds` must be an array of texts");
        if ids.kind() != JsonKind::Array {
            return Err(wrong());
        }
        let service = &self.state.service;
        let viewer = self.viewer(&self.state.snapshot(), request);
        let mut found: Vec<Arc<LiveTask>> = Vec::new();
        let mut known = HashSet::new();
        for id in ids.elements() {
            let id = id.string().ok_or_else(wrong)?;
            let live = service.tasks.live(&id, &viewer);
            found.extend(live.filter(|it| known.insert(it.id().clone())));
        }
        Ok(found)
    }

    /// Returns the part of the filter that the server supports. The rest is left out of the acknowledgement.
    fn honoured(
        &self,
        wanted: Raw<'_>,
        others: usize,
        tenant: &Arc<Tenant>,
    ) -> Result<EventFilter, Error> {
        let snapshot = self.state.snapshot();
        let changes = self.state.service.dispatcher.catalog.is_dynamic();
        let flag = |name: &str, feature: Feature| -> Result<bool, Error> {
            match wanted.get(name) {
                None => Ok(false),
                Some(it) => {
                    let wanted = it
                        .bool()
                        .ok_or_else(|| invalid(format_args!("`{name}` must be true or false")))?;
                    Ok(wanted && changes && feature.is_served(&snapshot))
                }
            }
        };
        let mut filter = EventFilter {
            tools: flag("toolsListChanged", Feature::Tools)?,
            prompts: flag("promptsListChanged", Feature::Prompts)?,
            resources: flag("resourcesListChanged", Feature::Resources)?,
            uris: SubscribedUris::default(),
            tasks: Vec::new(),
        };
        if let Some(uris) = wanted.get("resourceSubscriptions") {
            if uris.kind() != JsonKind::Array {
                return Err(invalid("`resourceSubscriptions` must be an array of URIs"));
            }
            for uri in uris.elements() {
                let uri = uri
                    .string()
                    .ok_or_else(|| invalid("`resourceSubscriptions` must be an array of URIs"))?;
                let service = &self.state.service;
                let added = filter.uris.add(&uri, others, &service.limits, tenant);
                added.map_err(|(limit, error)| service.note(limit, error))?;
            }
            if !Feature::Subscriptions.is_served(&snapshot) {
                filter.uris.clear();
            }
        }
        Ok(filter)
    }
}
