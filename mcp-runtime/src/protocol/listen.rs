//! `subscriptions/listen`: begins and ends the streams on which a client of the modern era receives events.

#[cfg(feature = "auth")]
use std::collections::BTreeSet;
use std::{collections::HashSet, sync::Arc};

use mcp_runtime_wire::{self as wire, Id, JsonKind, Raw};

#[cfg(feature = "auth")]
use super::{admission::permit_uris, call::RefusedRequest, subscriptions::too_many};
use super::{
    call::{Received, RefusalStatus, id_in_use},
    encode,
    request::ClientRequest,
    service::Feature,
    session::Terms,
    state::PeerState,
    subscriptions::{EventFilter, ListenStream, SUBSCRIPTION, SubscribedUris, subscription_meta},
    tasks::{demand_extension, viewer},
};
use crate::{
    catalog::{Listener as _, Topic},
    error::{Error, ErrorKind},
    limits::{Limit, Tenant},
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
        Ok(listen) => {
            if listen.filter.uris.len() > 0 {
                state.register(Topic::Resources);
            }
            if !listen.filter.tasks.is_empty() {
                state.register(Topic::Tasks);
            }
            // Holding the lock keeps other events out of the outbox until the acknowledgement is there, because the specification requires
            // it to be the first message of the stream (rule SUB-02).
            let mut listens = state.ongoing_or_new().listens();
            state.outbox.push(|out| {
                wire::notification(out, "notifications/subscriptions/acknowledged", |params| {
                    listen.filter.write(&mut params.object("notifications"));
                    subscription_meta(params, &listen.id);
                });
            });
            // Sends the current state of each task, because changes before the subscription cause no notification on this stream.
            for task in &listen.filter.tasks {
                let stream = Some((SUBSCRIPTION, &listen.id));
                let view = task.view();
                state.outbox.push(|out| encode::task_changed(out, revision, &view, stream));
            }
            listens.push(listen);
            drop(listens);
            if state.service.dispatcher.catalog.bus.is_stopped() {
                state.stop();
            }
        }
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
) -> Result<ListenStream, Error> {
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
    let mut filter = supported_filter(state, wanted, uris, &tenant)?;
    filter.tasks = tasks_of(state, wanted.get("taskIds"), terms, request)?;
    let revision = terms.revision;
    Ok(ListenStream { id: id.to_owned(), revision, filter, _hold: state.outbox.hold() })
}

/// Returns the named tasks, except for tasks that have ended or belong to another caller.
fn tasks_of(
    state: &PeerState,
    ids: Option<Raw<'_>>,
    terms: &Terms,
    request: &ClientRequest<'_>,
) -> Result<Vec<Arc<LiveTask>>, Error> {
    let Some(ids) = ids else { return Ok(Vec::new()) };
    demand_extension(&terms.client, "`taskIds`")?;
    let wrong = || Error::invalid_params("`taskIds` must be an array of texts");
    if ids.kind() != JsonKind::Array {
        return Err(wrong());
    }
    let service = &state.service;
    let viewer = viewer(state, &state.snapshot(), request);
    let mut found: Vec<Arc<LiveTask>> = Vec::new();
    let mut known = HashSet::new();
    for id in ids.elements() {
        let id = id.string().ok_or_else(wrong)?;
        let live = service.tasks.live(&id, &viewer);
        found.extend(live.filter(|task| known.insert(task.id().clone())));
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
            let added = filter.uris.add(&uri, others, &service.limits, tenant);
            added.map_err(|(limit, error)| service.count_refusal(limit, error))?;
        }
        if !Feature::Subscriptions.is_served(&snapshot) {
            filter.uris.clear();
        }
    }
    Ok(filter)
}
