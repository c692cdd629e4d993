//! Requests of sessions that several nodes share, and the messages of nodes about these sessions.

use std::{sync::Arc, time::Duration};

use http::{Method, Response, StatusCode, request::Parts};
use mcp_runtime_wire::{self as wire, Incoming, Parsed, RpcMessage};

use super::{
    body::{EventFeed, HttpBody},
    connection_state::ConnectionState,
    endpoint::Endpoint,
    head::{Accepts, Head},
    reply::{self, HttpAnswer},
    session::HttpSession,
    session_message::SessionMessage,
    session_requests::{self, find},
    session_table::{HasSessionId as _, SessionId},
    shared_copies::{self, unavailable},
    shared_sessions::SharedSessions,
    shared_stream::{AttachedReader, LogReader, RETRY, SharedReader},
    sse, sse_inbox,
};
use crate::{
    call::context::{Carrier, Principal},
    node::{Delivery, NodeId, Subject},
    protocol::{Arrival, Era, Outbox, Received, ReplyTo, SessionSettings},
};

/// Number of attempts to pass on a message of a client or to read a long one, and the pause between them.
const TRIES: usize = 60;
const PAUSE: Duration = Duration::from_secs(1);

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
    if !session.peer.is_for_others(&incoming) {
        return handle_here(state, session, incoming, carrier, head, accepts);
    }
    let (id, endpoint) = (*session.id(), state.endpoint.clone());
    let pause = match endpoint.shared.as_ref().map(|shared| shared.pause(&id, body.len())) {
        Some(Err(why)) => return unavailable(why).into(),
        Some(Ok(pause)) => pause,
        None => Duration::ZERO,
    };
    let (body, asks) = (String::from_utf8_lossy(body).into_owned(), asks(&incoming));
    // This node handles the message only now, and not again when it reads the message in the log. By then, a cancellation could hit a newer
    // call with the same id.
    let answer = handle_here(state, session, incoming, carrier, head, accepts);
    HttpAnswer::later(async move {
        let Some(shared) = &endpoint.shared else { return answer };
        tokio::time::sleep(pause).await;
        match shared.pass_on(&id, &body).await {
            Ok(()) => answer,
            // The calls of the batch run already, so the client must not send the batch again.
            Err(why) if asks => {
                tracing::debug!("a message of a client has to wait: {why}");
                tokio::spawn(pass_on_later(endpoint, id, body));
                answer
            }
            Err(why) => unavailable(why).into(),
        }
    })
}

/// Sends all nodes a message after the store has failed.
async fn pass_on_later(endpoint: Arc<Endpoint>, id: SessionId, body: String) {
    let Some(shared) = &endpoint.shared else { return };
    for _ in 0..TRIES {
        tokio::time::sleep(PAUSE).await;
        if shared.pass_on(&id, &body).await.is_ok() {
            return;
        }
    }
    tracing::warn!("a message of a client is lost, because the store is not available");
}

/// Answers a message at this node. If the message changes settings, they are stored before the client gets the answer.
fn handle_here(
    state: &ConnectionState,
    session: Arc<HttpSession>,
    incoming: Incoming<'_>,
    carrier: Carrier,
    head: &Head<'_>,
    accepts: Accepts,
) -> HttpAnswer {
    if !changes_settings(&incoming) {
        return session_requests::post(state, incoming, carrier, head, accepts);
    }
    let endpoint = state.endpoint.clone();
    let id = incoming.id().map(|id| id.as_str().to_owned());
    let before = session.peer.settings();
    let answer = session_requests::post(state, incoming, carrier, head, accepts);
    let after = session.peer.settings();
    let is_changed = before != after;
    if !is_changed && shared_copies::is_told(&endpoint, &session) {
        return answer;
    }
    // This node has applied the change already, so the change must be stored even if the client disconnects.
    let changed = tokio::spawn(async move {
        match is_changed {
            true => shared_copies::change(&endpoint, &session, &before, &after).await,
            false => shared_copies::tell(&endpoint, &session).await,
        }
    });
    HttpAnswer::later(async move {
        match changed.await {
            Ok(Ok(())) => answer,
            Ok(Err(why)) => reply::busy_for(reply::id_of(id.as_deref()), why).into(),
            Err(_) => reply::busy("the change of the session has failed: try again later").into(),
        }
    })
}

/// Returns whether a message is a request or contains requests.
fn asks(incoming: &Incoming<'_>) -> bool {
    let asks = |message: &RpcMessage<'_>| matches!(message, RpcMessage::Request { .. });
    match incoming {
        Incoming::One(message) => message.as_ref().is_ok_and(asks),
        Incoming::Batch(messages) => messages.iter().flatten().any(asks),
        Incoming::EmptyBatch => false,
    }
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
        let endpoint = &state.endpoint;
        let answer = match parts.method {
            Method::GET => get(endpoint, &parts).await,
            _ => delete(endpoint, &parts).await,
        };
        answer.unwrap_or_else(|refused| *refused).into()
    })
}

async fn delete(
    endpoint: &Arc<Endpoint>,
    parts: &Parts,
) -> Result<Response<HttpBody>, Box<Response<HttpBody>>> {
    let (head, principal) = (Head::of(&parts.headers), Principal::named_in(&parts.extensions));
    if let (Some(shared), Ok(session)) = (&endpoint.shared, find(endpoint, &head, principal)) {
        shared.end(session.id()).await.map_err(unavailable)?;
        shared_copies::end(endpoint, session.id());
        return Ok(reply::empty(StatusCode::NO_CONTENT));
    }
    Ok(session_requests::delete(endpoint, &head, principal))
}

async fn get(
    endpoint: &Arc<Endpoint>,
    parts: &Parts,
) -> Result<Response<HttpBody>, Box<Response<HttpBody>>> {
    if endpoint.is_stopping() {
        // The client connects again after this time, and reaches another node.
        let mut frames = Vec::new();
        sse::retry(&mut frames, RETRY);
        return Ok(reply::events(HttpBody::whole(frames.into())));
    }
    let checked = session_requests::check_get(endpoint, &Head::of(&parts.headers), parts);
    let (session, permit) = checked?;
    let Some(shared) = &endpoint.shared else {
        return Err(reply::empty(StatusCode::NOT_FOUND).into());
    };
    let id = session.id();
    let last = session_requests::last_event(&parts.headers).transpose();
    let last = last.map_err(|why| session_requests::gone(endpoint, why))?;
    let log = shared.stream(id, last.map_or(0, |last| last.stream));
    let named = match last {
        None => None,
        Some(last) => {
            let checked = log.check(last.event).await.map_err(unavailable)?;
            Some(checked.map_err(|why| session_requests::gone(endpoint, why))?)
        }
    };
    let (after, opened) = if log.number() == 0 {
        let (delivered, version) = log.open_delivered().await.map_err(unavailable)?;
        (named.unwrap_or(delivered), Some(version))
    } else {
        (named.unwrap_or(0), None)
    };
    // The reader stores its position when it is dropped, even if this function fails.
    let reader = LogReader::new(log.clone(), (after, opened), session.clone());
    if log.number() != 0 {
        let name = id.to_string();
        let resumed = SessionMessage::Resumed(&name, log.number());
        shared.send(&resumed).await.map_err(unavailable)?;
    } else {
        if !session.peer.hears() {
            // The node that has sent these messages so far then appends its unsent messages to the log, after the event at which this reader
            // begins.
            shared.hear(id).await.map_err(unavailable)?;
        }
        shared_copies::log_messages(shared, &session);
    }
    shared.attach(id, log.number(), AttachedReader::Log(reader.reading()));
    let feed = EventFeed::Shared(SharedReader::Log(Box::new(reader)));
    Ok(session_requests::stream(endpoint, feed, permit, parts))
}

/// Connects the endpoint with the other nodes, if several nodes share the store.
pub(super) fn share(endpoint: &Arc<Endpoint>) {
    let Some(shared) = &endpoint.shared else { return };
    let receiver = Arc::downgrade(endpoint);
    shared.node.on(Subject::Sessions, move |delivery| {
        let Some(endpoint) = receiver.upgrade() else { return };
        let Some(shared) = &endpoint.shared else { return };
        match delivery {
            Delivery::Message { from, body } => receive(&endpoint, shared, from, body),
            // A session may have changed without this node hearing of it.
            Delivery::Gap => {
                sse_inbox::end_after_gap(&endpoint);
                shared.distrust_all();
                tokio::spawn(shared_copies::check_hearing(endpoint.clone()));
            }
        }
    });
    tokio::spawn(shared_copies::keep_used(
        Arc::downgrade(endpoint),
        endpoint.limits().session_idle / 4,
    ));
    if endpoint.settings.legacy_sse {
        let streams = Arc::downgrade(endpoint);
        tokio::spawn(shared.sse_owners.keep(move || {
            let endpoint = streams.upgrade()?;
            let mut open = Vec::new();
            endpoint.sse_sessions.for_each(|session| {
                open.push((*session.id(), session.principal().to_owned()));
            });
            Some(open)
        }));
    }
}

fn receive(endpoint: &Arc<Endpoint>, shared: &SharedSessions, from: NodeId, body: &str) {
    let message = match serde_json::from_str::<SessionMessage<'_>>(body) {
        Ok(message) => message,
        Err(why) => return tracing::debug!("ignored a message of a node: {why}"),
    };
    let (SessionMessage::Ended(id)
    | SessionMessage::Changed(id, _)
    | SessionMessage::Client(id)
    | SessionMessage::Resumed(id, _)
    | SessionMessage::Heard(id, _)
    | SessionMessage::Posted(id, _)
    | SessionMessage::Stored(id, _)
    | SessionMessage::Relayed(id, ..)) = &message;
    let Some(id) = SessionId::parse(id.as_bytes()) else { return };
    if let SessionMessage::Relayed(_, number, size) = message {
        return sse_inbox::receive(endpoint, &id, (from, number), size);
    }
    let Some(session) = endpoint.sessions.find(&id) else { return };
    match message {
        SessionMessage::Ended(_) => shared_copies::end(endpoint, &id),
        SessionMessage::Changed(_, new) => {
            let apply = |settings: &SessionSettings| shared_copies::apply(&session, settings);
            // A node that does not notify the client reads the settings at the next request.
            if !shared.follow(&id, &new, apply) && session.peer.hears() {
                tokio::spawn(shared_copies::reload(endpoint.clone(), session));
            }
        }
        SessionMessage::Client(_) => {
            if from != shared.node.id()
                && let Some(copy) = shared.copy(&id)
            {
                copy.distrust();
            }
        }
        SessionMessage::Resumed(_, stream) => {
            if from != shared.node.id() {
                shared.detach(&id, stream);
            }
        }
        SessionMessage::Heard(_, version) => {
            shared_copies::move_hearing(shared, &session, from, version);
        }
        // The node that has received the message has handled it already.
        SessionMessage::Posted(..) | SessionMessage::Stored(..) if from == shared.node.id() => {}
        SessionMessage::Posted(_, body) => handle(endpoint, &session, body.as_bytes()),
        // The node does not know what a long message contains, and reads it only if an answer, a cancellation or a change of the roots can
        // have an effect here.
        SessionMessage::Stored(_, name) if session.peer.may_need_messages() => {
            tokio::spawn(handle_stored(endpoint.clone(), session, name.into_owned()));
        }
        SessionMessage::Stored(..) | SessionMessage::Relayed(..) => {}
    }
}

/// Handles the responses and notifications in a message that another node has received from the client. Requests in the same batch are
/// handled by the node that has received them.
fn handle(endpoint: &Endpoint, session: &HttpSession, body: &[u8]) {
    let (limits, mut parsed) = (endpoint.limits().of_wire(), Parsed::default());
    let Ok(mut incoming) = wire::parse(body, limits, &mut parsed) else { return };
    if let Incoming::Batch(messages) = &mut incoming {
        let asks = |message: &RpcMessage<'_>| matches!(message, RpcMessage::Request { .. });
        messages.retain(|message| message.as_ref().is_ok_and(|message| !asks(message)));
    }
    // Responses and notifications get no reply.
    let to = ReplyTo::each(Arc::<Outbox>::default());
    let arrival = Arrival { to, carrier: Carrier::default(), era: Era::Legacy };
    session.peer.handle(&incoming, &arrival, &mut Received::default());
}

async fn handle_stored(endpoint: Arc<Endpoint>, session: Arc<HttpSession>, name: String) {
    let Some(shared) = &endpoint.shared else { return };
    for _ in 0..TRIES {
        match shared.posted(session.id(), &name).await {
            Ok(Some(body)) => return handle(&endpoint, &session, &body),
            Ok(None) => return,
            Err(why) => tracing::debug!("a message of a client has to wait: {why}"),
        }
        tokio::time::sleep(PAUSE).await;
    }
    tracing::warn!("a message of a client is lost, because the store is not available");
}
