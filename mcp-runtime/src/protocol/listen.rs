//! `subscriptions/listen`: begins and ends the streams on which a client of the modern era receives events.

#[cfg(feature = "auth")]
use std::collections::BTreeSet;
use std::{collections::HashSet, sync::Arc};

use mcp_runtime_wire::{self as wire, Id, JsonKind, Raw};

use super::{
    admission::admit,
    call::{Received, RefusalStatus, ResponseSink, drive, id_in_use},
    encode::{self, AnswerScope},
    request::ClientRequest,
    service::Feature,
    session::Terms,
    state::PeerState,
    subscriptions::{
        EventFilter, FollowedTask, ListenStream, SUBSCRIPTION, SubscribedUris, subscription_meta,
    },
    tasks::{demand_extension, viewer},
};
#[cfg(feature = "auth")]
use super::{admission::permit_uris, call::RefusedRequest, subscriptions::too_many};
use crate::{
    call::context::{Caller, Context},
    catalog::{Listener as _, Topic},
    dispatch::{Dispatched, PendingHandler},
    error::{Error, ErrorKind},
    limits::{Limit, Tenant},
    model::{Done, TaskAnswer, TaskView},
    task::LiveTask,
};

/// Ends all listen streams. A connection may carry several streams, so the specification requires a cancellation of each stream before its
/// result (rule SUB-04).
pub(super) fn close_all(state: &PeerState) {
    let Some(ongoing) = state.ongoing() else { return };
    let mut listens = ongoing.listens();
    let service = &state.service;
    for (cancelled, result) in listens.cancellations().zip(listens.results(service)) {
        for message in [cancelled, result] {
            state.outbox.push_after_events(|out| out.extend_from_slice(&message));
        }
    }
    listens.clear();
}

/// Ends a listen stream that its client has cancelled. Events that have not been sent are dropped.
pub(super) fn end(state: &PeerState, id: Id<'_>) {
    let Some(ongoing) = state.ongoing() else { return };
    let mut listens = ongoing.listens();
    listens.remove(id);
    state.outbox.forget_events(id);
}

pub(super) fn listen(
    state: &Arc<PeerState>,
    terms: &Terms,
    request: &ClientRequest<'_>,
    received: &mut Received,
) {
    let revision = terms.revision;
    #[cfg(feature = "auth")]
    if let Err(refused) = permit_listening(state, request) {
        return request.reject(revision, refused, received);
    }
    state.register(Topic::Lists);
    match open(state, terms, request) {
        Err(error) if error.kind() == ErrorKind::Failed => {
            request.reject(revision, RefusalStatus::Busy.because(error), received);
        }
        Err(error) if error.kind() == ErrorKind::MissingCapability => {
            request.reject(revision, RefusalStatus::Malformed.because(error), received);
        }
        Err(error) => request.refuse(revision, &error),
        Ok((listen, named)) if named.elsewhere.is_empty() => begin(state, listen, named.here, &[]),
        Ok((listen, named)) => find_elsewhere(state, terms, request, (listen, named), received),
    }
}

/// Looks for the tasks that other nodes run, and then begins the stream.
fn find_elsewhere(
    state: &Arc<PeerState>,
    terms: &Terms,
    request: &ClientRequest<'_>,
    (listen, named): (ListenStream, NamedTasks),
    received: &mut Received,
) {
    if let Err(refused) = admit(state, request, terms.revision) {
        return request.reject(terms.revision, refused, received);
    }
    let snapshot = state.snapshot();
    let (state, viewer) = (state.clone(), viewer(state, &snapshot, request));
    let owned = state.clone();
    let work = Box::pin(async move {
        let tasks = owned.service.tasks.clone();
        // Listeners are registered before the tasks are read, so that the stream misses no change.
        owned.register(Topic::Tasks);
        let found = tasks.running_elsewhere(&named.elsewhere, &viewer).await?;
        begin(&owned, listen, named.here, &found);
        // A change between the read and the beginning of the stream was reported to no stream.
        found.iter().for_each(|view| tasks.tell(&view.id, &viewer));
        Ok(Done::Task(TaskAnswer::Listening))
    });
    let dispatcher = &state.service.dispatcher;
    let context = Context::new(dispatcher.environment.clone(), Caller::default(), None);
    let pending = PendingHandler::bare(work, context, dispatcher.settings);
    let scope = AnswerScope { revision: terms.revision, is_private: true };
    let (state, snapshot) = (&state, &snapshot);
    let sink = ResponseSink { state, snapshot, scope, slot: None, to: request.to };
    drive(Dispatched::Pending(pending), request.id, request.carrier, sink, received);
}

/// Begins a stream: acknowledges it, and sends the current state of its tasks, because changes before the subscription cause no
/// notification on this stream.
fn begin(
    state: &Arc<PeerState>,
    mut listen: ListenStream,
    here: Vec<Arc<LiveTask>>,
    elsewhere: &[TaskView],
) {
    if listen.filter.uris.len() > 0 {
        state.register(Topic::Resources);
    }
    if !here.is_empty() {
        state.register(Topic::Tasks);
    }
    // Holding the lock keeps events of this stream out of the outbox until the acknowledgement is there. The specification requires the
    // acknowledgement to be the first message of the stream (rule SUB-02).
    let mut listens = state.ongoing_or_new().listens();
    let views: Vec<_> = here.iter().map(|task| task.view()).chain(elsewhere.to_vec()).collect();
    listen.filter.tasks = views.iter().map(FollowedTask::new).collect();
    state.outbox.push(|out| {
        wire::notification(out, "notifications/subscriptions/acknowledged", |params| {
            listen.filter.write(&mut params.object("notifications"));
            subscription_meta(params, &listen.id);
        });
    });
    for view in &views {
        let stream = Some((SUBSCRIPTION, &listen.id));
        state.outbox.push(|out| encode::task_changed(out, listen.revision, view, stream));
    }
    listens.push(listen);
    drop(listens);
    if state.service.dispatcher.catalog.bus.is_stopped() {
        state.stop();
    }
}

/// Checks that the caller may subscribe to the resources that the request names.
#[cfg(feature = "auth")]
fn permit_listening(state: &PeerState, request: &ClientRequest<'_>) -> Result<(), RefusedRequest> {
    let wanted = request.params.get("notifications");
    let named = wanted.and_then(|filter| filter.get("resourceSubscriptions"));
    let named = named.filter(|uris| uris.kind() == JsonKind::Array);
    let (service, mut uris) = (&state.service, BTreeSet::new());
    // Skips values that are not strings, because they are rejected later.
    for uri in named.unwrap_or(Raw::NULL).elements().filter_map(Raw::string) {
        uris.insert(uri);
        // Stops as soon as there are more URIs than a client may subscribe to.
        if uris.len() > service.limits.subscriptions {
            let (limit, error) = too_many(&service.limits, true);
            return Err(service.count_refusal(limit, error).into());
        }
    }
    permit_uris(state, &state.snapshot(), request, uris.iter().map(|uri| &**uri))
}

fn open(
    state: &PeerState,
    terms: &Terms,
    request: &ClientRequest<'_>,
) -> Result<(ListenStream, NamedTasks), Error> {
    let wanted = request.params.get("notifications");
    let Some(wanted) = wanted.filter(|filter| filter.kind() == JsonKind::Object) else {
        return Err(Error::invalid_params(
            "`notifications` must be an object that says what to listen for",
        ));
    };
    let id = request.id;
    let (used, streams, uris) = state.ongoing().map_or((false, 0, 0), |ongoing| {
        let listens = ongoing.listens();
        let (streams, uris) = listens.count();
        (listens.contains(id), streams, uris)
    });
    if used || state.ongoing().is_some_and(|ongoing| ongoing.calls().contains_key(id.as_str())) {
        return Err(id_in_use());
    }
    let limits = state.service.limits;
    if streams >= limits.streams {
        let text = format!("{streams} listen streams are open already: close some of them");
        return Err(state
            .service
            .count_refusal(Limit::Streams, Error::of(ErrorKind::Failed, text)));
    }
    let tenant = state.tenant(request.carrier, terms.revision);
    let filter = supported_filter(state, wanted, uris, &tenant)?;
    let named = tasks_of(state, wanted.get("taskIds"), terms, request)?;
    let revision = terms.revision;
    let listen = ListenStream { id: id.to_owned(), revision, filter, _hold: state.outbox.hold() };
    Ok((listen, named))
}

/// Tasks that a stream names.
#[derive(Default)]
struct NamedTasks {
    here: Vec<Arc<LiveTask>>,
    /// Ids of tasks that other nodes may run. Empty if the store is not shared.
    elsewhere: Vec<Box<str>>,
}

/// Returns the named tasks, except for tasks that have ended or belong to another caller.
fn tasks_of(
    state: &PeerState,
    ids: Option<Raw<'_>>,
    terms: &Terms,
    request: &ClientRequest<'_>,
) -> Result<NamedTasks, Error> {
    let Some(ids) = ids else { return Ok(NamedTasks::default()) };
    demand_extension(&terms.client, "`taskIds`")?;
    let wrong = || Error::invalid_params("`taskIds` must be an array of texts");
    if ids.kind() != JsonKind::Array {
        return Err(wrong());
    }
    let service = &state.service;
    let viewer = viewer(state, &state.snapshot(), request);
    let mut found = NamedTasks::default();
    let mut known: HashSet<Box<str>> = HashSet::new();
    for id in ids.elements() {
        let id = id.string().ok_or_else(wrong)?;
        if !known.insert((&*id).into()) {
            continue;
        }
        match service.tasks.live(&id, &viewer) {
            Some(live) => found.here.push(live),
            // The store is read for each of these ids, so their number has the same bound as the number of tasks.
            None if service.tasks.is_shared() && found.elsewhere.len() < service.limits.tasks => {
                found.elsewhere.push((&*id).into());
            }
            None => {}
        }
    }
    Ok(found)
}

/// Returns the part of the filter that the server supports. The rest is left out of the acknowledgement.
fn supported_filter(
    state: &PeerState,
    wanted: Raw<'_>,
    others: usize,
    tenant: &Arc<Tenant>,
) -> Result<EventFilter, Error> {
    let snapshot = state.snapshot();
    let changes = state.service.dispatcher.catalog.is_dynamic();
    let flag = |name: &str, feature: Feature| -> Result<bool, Error> {
        match wanted.get(name) {
            None => Ok(false),
            Some(flag) => {
                let wanted = flag.bool().ok_or_else(|| {
                    Error::invalid_params(format_args!("`{name}` must be true or false"))
                })?;
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
            return Err(Error::invalid_params("`resourceSubscriptions` must be an array of URIs"));
        }
        for uri in uris.elements() {
            let uri = uri.string().ok_or_else(|| {
                Error::invalid_params("`resourceSubscriptions` must be an array of URIs")
            })?;
            let service = &state.service;
            let key = snapshot.subscription_key(&uri);
            let added = filter.uris.add(key, &uri, others, &service.limits, tenant);
            added.map_err(|(limit, error)| service.count_refusal(limit, error))?;
        }
        if !Feature::Subscriptions.is_served(&snapshot) {
            filter.uris.clear();
        }
    }
    Ok(filter)
}
