//! HTTP+SSE, the transport of protocol revision 2024-11-05. One address provides a stream for all messages from the server, and the client
//! posts its messages to another address. If servers share a store, any of them takes the messages.

use std::sync::Arc;

use http::{Response, StatusCode, request::Parts};
use mcp_runtime_wire::{self as wire, Parsed};
use tokio::runtime::Handle;

use super::{
    body::{EventFeed, EventStream, HttpBody},
    connection_state::ConnectionState,
    endpoint::Endpoint,
    head::{Accepts, Head, check_media_type},
    reply::{self, HttpAnswer},
    request_body::RequestBytes,
    route::SSE_POST,
    session::{SseSession, SseStream},
    session_table::{HasSessionId as _, SessionId},
    shared_copies::unavailable,
    sse, sse_relay,
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
    begin(state, head, parts).map_or_else(|refused| *refused, |opened| opened.response)
}

/// Opens the stream at one of several nodes. The client gets the first event when the other nodes can find this node.
pub(super) fn open_shared(state: &ConnectionState, parts: &Arc<Parts>) -> HttpAnswer {
    let OpenedStream { session, response } = match begin(state, &Head::of(&parts.headers), parts) {
        Ok(opened) => opened,
        Err(refused) => return refused.into(),
    };
    let endpoint = state.endpoint.clone();
    HttpAnswer::later(async move {
        let Some(shared) = &endpoint.shared else { return response.into() };
        match shared.sse_owners.add(session.id(), session.principal()).await {
            Ok(()) => response.into(),
            Err(why) => unavailable(why).into(),
        }
    })
}

/// Stream that was opened, and its session.
struct OpenedStream {
    session: Arc<SseSession>,
    response: Response<HttpBody>,
}

fn begin(
    state: &ConnectionState,
    head: &Head<'_>,
    parts: &Arc<Parts>,
) -> Result<OpenedStream, Box<Response<HttpBody>>> {
    let endpoint = &state.endpoint;
    if !Accepts::by(head, &parts.headers).events {
        let why = "the answer is a `text/event-stream`, which `Accept` does not name";
        return Err(reply::refuse(StatusCode::NOT_ACCEPTABLE, why).into());
    }
    let tenant = endpoint.tenant(&Carrier::of_request(parts, state.address_of(parts)));
    let Some(permit) = endpoint.permit(&tenant) else {
        return Err(reply::busy("there are too many streams: try again later").into());
    };
    let taken = endpoint.share(&tenant).and_then(|share| Ok((share, SessionId::unguessable()?)));
    let (share, id) = taken.map_err(|why| Box::new(reply::busy(why)))?;
    let remembered = Remembered::new(&endpoint.service);
    let peer = Peer::of_tenant(endpoint.service.clone(), remembered, tenant);
    let owned = endpoint.shared.as_ref().and_then(|shared| shared.sse_owners.own(id));
    let runtime = owned.is_some().then(Handle::current);
    let session = Arc::new(SseSession::new(id, peer, share, runtime));
    session.show(&parts.extensions);
    endpoint.sse_sessions.insert(session.clone());
    if endpoint.is_stopping() {
        session.stop();
    }
    let mut first = Vec::new();
    // A relative address is correct on every path at which the server is mounted.
    sse::endpoint(&mut first, &format!("{SSE_POST}?{ID}{id}"));
    let stream = SseStream::new(endpoint.sse_sessions.clone(), session.clone(), owned);
    let events = EventStream::new(EventFeed::Sse(stream), first, endpoint.limits().keep_alive);
    let events = HttpBody::events(events.counted(permit).expiring(&parts.extensions));
    Ok(OpenedStream { session, response: reply::events(events) })
}

/// Returns the id that the query names.
fn named(parts: &Parts) -> Option<&str> {
    let mut pairs = parts.uri.query()?.split('&');
    pairs.find_map(|pair| pair.strip_prefix(ID))
}

/// Returns the id of a session whose stream may be at another node.
#[cold]
fn elsewhere(endpoint: &Endpoint, parts: &Parts) -> Option<SessionId> {
    endpoint.shared.as_ref()?;
    let id = named(parts).and_then(|id| SessionId::parse(id.as_bytes()))?;
    endpoint.sse_sessions.find(&id).is_none().then_some(id)
}

/// Returns the session that the query names, if it belongs to the principal of the request.
///
/// # Errors
/// Returns an error response if the query names no session, or names a session that is unknown or belongs to a different principal.
fn find(endpoint: &Endpoint, parts: &Parts) -> Result<Arc<SseSession>, Box<Response<HttpBody>>> {
    let id = named(parts).ok_or_else(|| {
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
    if let Err(unknown) = find(endpoint, parts)
        && elsewhere(endpoint, parts).is_none()
    {
        return Err(unknown);
    }
    check_media_type(head).map_err(reply::unsupported)
}

/// Handles a message, or passes it on to the node that has the stream. The answer is sent on the stream.
pub(super) fn post(
    endpoint: &Arc<Endpoint>,
    carrier: Carrier,
    parts: &Parts,
    read: &RequestBytes,
) -> HttpAnswer {
    // The session is looked up again, because it may have ended while the body arrived.
    let session = match find(endpoint, parts) {
        Ok(session) => session,
        Err(unknown) => {
            return match elsewhere(endpoint, parts) {
                Some(id) => sse_relay::pass_on(endpoint, id, carrier, read),
                None => unknown.into(),
            };
        }
    };
    session.show(&parts.extensions);
    if is_unread(endpoint, &session) {
        endpoint.service.tally().refuse(Limit::EventBytes);
        return reply::busy("the stream has not been read for too long: read it first").into();
    }
    receive(endpoint, &session, carrier, &read.bytes);
    reply::empty(StatusCode::ACCEPTED).into()
}

/// Returns whether too many messages wait until the client reads its stream.
#[inline]
pub(super) fn is_unread(endpoint: &Endpoint, session: &SseSession) -> bool {
    session.peer.outbox().len() > endpoint.limits().event_bytes
}

/// Handles a message of a session whose stream is at this node.
#[inline]
pub(super) fn receive(endpoint: &Endpoint, session: &SseSession, carrier: Carrier, bytes: &[u8]) {
    let (peer, mut turn) = (&session.peer, Received::default());
    match wire::parse(bytes, endpoint.limits().of_wire(), &mut Parsed::default()) {
        Ok(incoming) => {
            let to = ReplyTo::each(peer.outbox().clone());
            peer.handle(&incoming, &Arrival { to, carrier, era: Era::Legacy }, &mut turn);
        }
        // If the message cannot be parsed, `receive` sends the error on the stream too.
        Err(_) => peer.receive(bytes, &mut turn),
    }
    spawn(turn.waiting);
}
