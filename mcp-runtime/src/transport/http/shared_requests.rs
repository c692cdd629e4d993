//! Requests of sessions that several nodes share, and the messages of nodes about these sessions.

use std::{borrow::Cow, sync::Arc};

use http::{HeaderMap, Method, StatusCode, request::Parts};
use mcp_runtime_wire::{self as wire, Incoming, Parsed, RpcMessage};

use super::{
    connection_state::ConnectionState,
    endpoint::Endpoint,
    head::{Accepts, Head},
    reply::{self, HttpAnswer},
    session_requests::{self, find},
    session_table::{HasSessionId as _, SessionId},
    shared_copies::{self, unavailable},
    shared_sessions::{SessionMessage, SharedSessions},
    sse::EventId,
};
use crate::{
    call::context::{Carrier, Principal},
    node::{Delivery, NodeId, Subject},
    protocol::{Arrival, Era, Outbox, Received, ReplyTo, SessionSettings},
};

/// Answers a message posted in a session that several nodes share. `body` is the text of the message.
pub(super) fn post(
    state: &ConnectionState,
    incoming: Incoming<'_>,
    carrier: Carrier,
    head: &Head<'_>,
    accepts: Accepts,
    body: &[u8],
) -> HttpAnswer {
    let Ok(session) = find(&state.endpoint, head, carrier.principal()) else {
        return session_requests::post(state, incoming, carrier, head, accepts);
    };
    let endpoint = state.endpoint.clone();
    if !session.peer.expects(&incoming) {
        let (id, body) = (*session.id(), String::from_utf8_lossy(body).into_owned());
        return HttpAnswer::later(async move {
            let Some(shared) = &endpoint.shared else {
                return reply::empty(StatusCode::ACCEPTED).into();
            };
            let posted = SessionMessage::Posted(&id.to_string(), Cow::Owned(body));
            match shared.send(&posted).await {
                Ok(()) => reply::empty(StatusCode::ACCEPTED).into(),
                Err(why) => unavailable(why).into(),
            }
        });
    }
    if !changes_settings(&incoming) {
        return session_requests::post(state, incoming, carrier, head, accepts);
    }
    let before = session.peer.settings();
    let answer = session_requests::post(state, incoming, carrier, head, accepts);
    let after = session.peer.settings();
    if before == after {
        return answer;
    }
    HttpAnswer::later(async move {
        match shared_copies::change(&endpoint, &session, &before, &after).await {
            Ok(()) => answer,
            Err(response) => response.into(),
        }
    })
}

/// Returns whether a message may change the settings of its session.
fn changes_settings(incoming: &Incoming<'_>) -> bool {
    let changes = |message: &RpcMessage<'_>| match message {
        RpcMessage::Request { method, .. } => matches!(
            &**method,
            "logging/setLevel" | "resources/subscribe" | "resources/unsubscribe"
        ),
        RpcMessage::Notification { method, .. } => &**method == "notifications/initialized",
        RpcMessage::Response { .. } => false,
    };
    match incoming {
        Incoming::One(message) => message.as_ref().is_ok_and(changes),
        Incoming::Batch(messages) => messages.iter().flatten().any(changes),
        Incoming::EmptyBatch => false,
    }
}

/// Answers a `GET` or a `DELETE` for a session that several nodes share.
pub(super) fn get_or_delete(state: &Arc<ConnectionState>, parts: &Arc<Parts>) -> HttpAnswer {
    let (state, parts) = (state.clone(), parts.clone());
    HttpAnswer::later(async move {
        let (endpoint, head) = (&state.endpoint, Head::of(&parts.headers));
        let principal = Principal::named_in(&parts.extensions);
        let is_get = parts.method == Method::GET;
        if let (Some(shared), Ok(session)) = (&endpoint.shared, find(endpoint, &head, principal)) {
            let id = *session.id();
            let prepared = match is_get {
                true if session.peer.hears() || resumes_answer(&parts.headers) => Ok(()),
                true => shared.send(&SessionMessage::Heard(&id.to_string())).await,
                false => shared.end(&id).await,
            };
            if let Err(why) = prepared {
                return unavailable(why).into();
            }
        }
        match is_get {
            true => session_requests::get(endpoint, &head, &parts).into(),
            false => session_requests::delete(endpoint, &head, principal).into(),
        }
    })
}

/// Returns whether a `GET` resumes the answer to a request, and not the stream of the session.
fn resumes_answer(headers: &HeaderMap) -> bool {
    let last = headers.get(session_requests::LAST_EVENT).and_then(|last| last.to_str().ok());
    last.and_then(EventId::parse).is_some_and(|last| last.stream != 0)
}

/// Connects the endpoint with the other nodes, if the server has several.
pub(super) fn share(endpoint: &Arc<Endpoint>) {
    let Some(shared) = &endpoint.shared else { return };
    let receiver = Arc::downgrade(endpoint);
    shared.node.on(Subject::Sessions, move |delivery| {
        let Some(endpoint) = receiver.upgrade() else { return };
        let Some(shared) = &endpoint.shared else { return };
        match delivery {
            Delivery::Message { from, body } => receive(&endpoint, shared, from, body),
            // A session may have changed without this node hearing of it.
            Delivery::Gap => shared.distrust_all(),
        }
    });
    tokio::spawn(shared_copies::keep_used(
        Arc::downgrade(endpoint),
        endpoint.limits().session_idle / 4,
    ));
}

fn receive(endpoint: &Endpoint, shared: &SharedSessions, from: NodeId, body: &str) {
    let message = match serde_json::from_str::<SessionMessage<'_>>(body) {
        Ok(message) => message,
        Err(why) => return tracing::debug!("ignored a message of a node: {why}"),
    };
    let (SessionMessage::Ended(id)
    | SessionMessage::Settings(id, _)
    | SessionMessage::Heard(id)
    | SessionMessage::Posted(id, _)) = &message;
    let Some(id) = SessionId::parse(id.as_bytes()) else { return };
    let Some(session) = endpoint.sessions.find(&id) else { return };
    match message {
        SessionMessage::Ended(_) => shared_copies::end(endpoint, &id),
        SessionMessage::Settings(_, new) => {
            let apply = |settings: &SessionSettings| shared_copies::apply(&session, settings);
            shared.learn(&id, new, apply);
        }
        SessionMessage::Heard(_) => session.peer.set_hears(from == shared.node.id()),
        SessionMessage::Posted(_, body) => {
            let (limits, mut parsed) = (endpoint.limits().of_wire(), Parsed::default());
            let Ok(incoming) = wire::parse(body.as_bytes(), limits, &mut parsed) else { return };
            // Such a message gets no reply: it is a response or a notification.
            let to = ReplyTo::each(Arc::<Outbox>::default());
            let arrival = Arrival { to, carrier: Carrier::default(), era: Era::Legacy };
            session.peer.handle(&incoming, &arrival, &mut Received::default());
        }
    }
}
