//! HTTP+SSE, the transport of protocol revision 2024-11-05. One address provides a stream for all messages from the server, and the client
//! posts its messages to another address.

use std::sync::Arc;

use http::{Response, StatusCode, request::Parts};
use mcp_runtime_wire::{self as wire, Parsed};

use super::{
    body::{EventFeed, EventStream, HttpBody},
    connection_state::ConnectionState,
    endpoint::Endpoint,
    head::{Accepts, Head, is_json},
    reply,
    request_body::RequestBytes,
    route::SSE_POST,
    session::{SseSession, SseStream},
    session_table::SessionId,
    sse,
};
use crate::{
    call::context::{Carrier, Principal},
    limits::Limit,
    protocol::{Arrival, Era, Peer, Received, Remembered, ReplyTo},
    transport::stream::spawn,
};

/// Query parameter that names the session.
const ID: &str = "sessionId=";

/// Opens the stream. The first event contains the address to which the client posts its messages.
pub(super) fn open(
    state: &ConnectionState,
    head: &Head<'_>,
    parts: &Arc<Parts>,
) -> Response<HttpBody> {
    let endpoint = &state.endpoint;
    if !Accepts::by(head, &parts.headers).events {
        return reply::refuse(
            StatusCode::NOT_ACCEPTABLE,
            "the answer is a `text/event-stream`, which `Accept` does not name",
        );
    }
    let tenant = endpoint.tenant(&Carrier::of_request(parts, state.address_of(parts)));
    let Some(permit) = endpoint.permit(&tenant) else {
        return reply::busy("there are too many streams: try again later");
    };
    let taken = endpoint.share(&tenant).and_then(|share| Ok((share, SessionId::unguessable()?)));
    let (share, id) = match taken {
        Ok(taken) => taken,
        Err(why) => return reply::busy(why),
    };
    let remembered = Remembered::new(&endpoint.service);
    let peer = Peer::of_tenant(endpoint.service.clone(), remembered, tenant);
    let session = Arc::new(SseSession::new(id, peer, share));
    session.show(&parts.extensions);
    endpoint.sse_sessions.insert(session.clone());
    if endpoint.is_stopping() {
        session.stop();
    }
    let mut first = Vec::new();
    // A relative address is correct on every path at which the server is mounted.
    sse::endpoint(&mut first, &format!("{SSE_POST}?{ID}{id}"));
    let stream = SseStream::new(endpoint.sse_sessions.clone(), session);
    let events = EventStream::new(EventFeed::Sse(stream), first, endpoint.limits().keep_alive);
    reply::events(HttpBody::events(events.counted(permit).expiring(&parts.extensions)))
}

/// Returns the session that the query names, if it belongs to this client.
///
/// # Errors
/// Returns an error response if the query names no session, or names a session that is unknown or belongs to a different client.
fn find(endpoint: &Endpoint, parts: &Parts) -> Result<Arc<SseSession>, Box<Response<HttpBody>>> {
    let query = parts.uri.query();
    let id = query.and_then(|query| query.split('&').find_map(|pair| pair.strip_prefix(ID)));
    let id = id.ok_or_else(|| {
        let why = format!("`?{ID}…` is missing: post to the address of the event `endpoint`");
        Box::new(reply::refuse(StatusCode::BAD_REQUEST, why))
    })?;
    let principal = Principal::named_in(&parts.extensions);
    let found = SessionId::parse(id.as_bytes()).and_then(|id| endpoint.sse_sessions.find(&id));
    let found = found.filter(|session| session.is_of(principal));
    found.ok_or_else(|| Box::new(reply::no_session("open a new stream")))
}

/// Checks the head of a request before its message is read.
///
/// # Errors
/// Returns the response that refuses the request.
pub(super) fn check(
    endpoint: &Endpoint,
    head: &Head<'_>,
    parts: &Parts,
) -> Result<(), Box<Response<HttpBody>>> {
    find(endpoint, parts)?;
    if is_json(head) { Ok(()) } else { Err(reply::unsupported(head.content_type.first).into()) }
}

/// Handles a message. The answer is sent on the stream.
pub(super) fn post(
    endpoint: &Endpoint,
    carrier: Carrier,
    parts: &Parts,
    read: &RequestBytes,
) -> Response<HttpBody> {
    // The session is looked up again, because it may have ended while the body arrived.
    let session = match find(endpoint, parts) {
        Ok(session) => session,
        Err(unnamed) => return *unnamed,
    };
    session.show(&parts.extensions);
    let peer = &session.peer;
    if peer.outbox().len() > endpoint.limits().event_bytes {
        endpoint.service.tally().refuse(Limit::EventBytes);
        return reply::busy("the stream has not been read for too long: read it first");
    }
    let mut turn = Received::default();
    match wire::parse(&read.bytes, endpoint.limits().of_wire(), &mut Parsed::default()) {
        Ok(incoming) => {
            let to = ReplyTo::each(peer.outbox().clone());
            peer.handle(&incoming, &Arrival { to, carrier, era: Era::Legacy }, &mut turn);
        }
        // If the message cannot be parsed, `receive` sends the error on the stream too.
        Err(_) => peer.receive(&read.bytes, &mut turn),
    }
    spawn(turn.waiting);
    reply::empty(StatusCode::ACCEPTED)
}
