//! Requests of the legacy era, which has a handshake: protocol revisions 2024-11-05 to 2025-11-25.

use std::sync::Arc;

use mcp_runtime_wire::{Raw, response};

#[cfg(feature = "auth")]
use super::admission::permit_uris;
use super::{
    call::{Received, RefusalStatus, RefusedRequest},
    encode,
    operate::operate,
    questions,
    request::{ClientRequest, Method, check_client, parse_level, string, unknown_method},
    revision::Revision,
    service::Feature,
    state::PeerState,
    tasks::{self, TaskMethod},
};
use crate::{
    call::context::logging,
    catalog::Topic,
    error::{Error, ErrorKind},
    limits::Limit,
};

/// Method that changes the session and has an empty result.
#[derive(Clone, Copy)]
enum SessionMethod {
    SetLevel,
    Subscribe,
    Unsubscribe,
}

impl SessionMethod {
    fn parse(name: &str) -> Option<Self> {
        match name {
            "logging/setLevel" => Some(Self::SetLevel),
            "resources/subscribe" => Some(Self::Subscribe),
            "resources/unsubscribe" => Some(Self::Unsubscribe),
            _ => None,
        }
    }
}

/// Method of a request within a session.
enum LegacyMethod {
    Items(Method),
    Session(SessionMethod),
    Tasks(TaskMethod),
}

impl LegacyMethod {
    fn parse(name: &str, state: &PeerState) -> Option<Self> {
        let session = || SessionMethod::parse(name).map(Self::Session);
        // Methods of tasks are tried last, because parsing them needs the revision of the session.
        let tasks = || TaskMethod::parse(name, state.revision()).map(Self::Tasks);
        Method::parse(name).map(Self::Items).or_else(session).or_else(tasks)
    }
}

pub(super) fn answer_request(
    state: &Arc<PeerState>,
    request: &ClientRequest<'_>,
    received: &mut Received,
) {
    match request.method {
        "initialize" => return initialize(state, request, received),
        "ping" => return request.acknowledge(&state.service, state.revision()),
        _ => {}
    }
    // Unknown methods are rejected before the handshake too, so that a client that probes for methods gets a clear answer.
    let Some(method) = LegacyMethod::parse(request.method, state) else {
        return request.refuse(state.revision(), &unknown_method(request.method));
    };
    let terms = state.session().terms();
    let Some(terms) = terms else {
        let text = format!(
            "`{}` before `initialize`: the session has not begun; send `initialize` first, or name the revision {} in `_meta`, which needs no session",
            request.method,
            Revision::MODERN[0].name()
        );
        let error = Error::of(ErrorKind::InvalidRequest, text);
        return request.refuse(state.revision(), &error);
    };
    match method {
        LegacyMethod::Items(method) => operate(state, method, &terms, request, received),
        LegacyMethod::Session(method) => match change_session(state, method, request) {
            Ok(()) => request.acknowledge(&state.service, terms.revision),
            Err(refused) => request.reject(terms.revision, refused, received),
        },
        LegacyMethod::Tasks(method) => {
            tasks::answer_request(state, method, &terms, request, received)
        }
    }
}

fn initialize(state: &Arc<PeerState>, request: &ClientRequest<'_>, received: &mut Received) {
    let mut refuse = |text: &str| {
        let error = Error::of(ErrorKind::InvalidRequest, text);
        request.reject(state.revision(), RefusalStatus::Malformed.because(error), received);
    };
    if request.to.is_batch() {
        return refuse("`initialize` cannot be part of a batch");
    }
    let params = request.params;
    let Ok(wanted) = string(params.get("protocolVersion"), "protocolVersion") else {
        let error = Error::invalid_params("`protocolVersion` must be a string");
        return request.refuse(state.revision(), &error);
    };
    // The modern revision has no `initialize`, so the server never selects it here (rule C-24).
    let revision = Revision::parse(&wanted)
        .filter(|revision| !revision.is_modern())
        .unwrap_or(Revision::NEWEST_LEGACY);
    let (info, capabilities) = (params.get("clientInfo"), params.get("capabilities"));
    if let Err(error) = check_client(&state.service.limits, info, capabilities) {
        let error = state.service.count_refusal(Limit::Client, error);
        return request.refuse(state.revision(), &error);
    }
    let client = state.client(info, capabilities.unwrap_or(Raw::EMPTY_OBJECT));
    state.session().initialize(revision, client);
    // The stored roots may belong to a previous client of the session.
    questions::forget_roots(state);
    state.register(Topic::Lists);
    let (service, snapshot) = (&state.service, state.snapshot());
    let lists_tasks = request.carrier.is_identified();
    request.to.write(|out| {
        response(out, request.id, |result| {
            encode::initialized(result, service, revision, &snapshot, lists_tasks);
        });
    });
}

fn change_session(
    state: &Arc<PeerState>,
    method: SessionMethod,
    request: &ClientRequest<'_>,
) -> Result<(), RefusedRequest> {
    let feature = match method {
        SessionMethod::SetLevel => Feature::Logging,
        SessionMethod::Subscribe | SessionMethod::Unsubscribe => Feature::Subscriptions,
    };
    if !feature.is_served(&state.snapshot()) {
        if feature == Feature::Logging {
            logging::warn_unless_installed();
        }
        return Err(unknown_method(request.method).into());
    }
    let params = request.params;
    match method {
        SessionMethod::SetLevel => {
            let level = parse_level(&string(params.get("level"), "level")?)?;
            logging::listen(level);
            state.session().set_log_level(Some(level));
        }
        SessionMethod::Subscribe => {
            let uri = string(params.get("uri"), "uri")?;
            let snapshot = state.snapshot();
            #[cfg(feature = "auth")]
            permit_uris(state, &snapshot, request, [&*uri])?;
            let service = &state.service;
            state.register(Topic::Resources);
            let tenant = state.tenant(request.carrier, state.revision());
            let added = match state.session().subscriptions() {
                Some(uris) => {
                    let key = snapshot.subscription_key(&uri);
                    uris.add(key, &uri, 0, &service.limits, &tenant)
                }
                None => Ok(()),
            };
            added.map_err(|(limit, error)| service.count_refusal(limit, error))?;
        }
        SessionMethod::Unsubscribe => {
            let uri = string(params.get("uri"), "uri")?;
            let key = state.snapshot().subscription_key(&uri);
            state.session().unsubscribe(&key, &uri);
        }
    }
    Ok(())
}
