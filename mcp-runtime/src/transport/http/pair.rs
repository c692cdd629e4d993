//! HTTP+SSE, the transport of protocol revision 2024-11-05: a stream for all messages of the server, and an address to post to.

use std::{
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
};

use http::{Response, StatusCode, request::Parts};
use mcp_runtime_wire::{self as wire, Parsed};

#[cfg(feature = "auth")]
use super::expiry::Until;
use super::{
    accept::{Accepts, is_json},
    body::Body,
    desk::Desk,
    endpoint::{Endpoint, id},
    events::{Events, Feed},
    head::Head,
    read::Read,
    reply, sse,
    table::{Key, Keyed},
};
use crate::{
    call::context::{Carrier, Principal},
    limits::{Limit, Share},
    protocol::{Arrival, Era, OutboxHold, Peer, Received, Remembered, ReplyTo},
    transport::stream::spawn,
};

/// Last segments of the two addresses.
pub(super) const STREAM: &str = "sse";
pub(super) const POST: &str = "message";
const ID: &str = "sessionId=";

/// Session of a client whose stream is open. The client posts its messages here.
pub(super) struct Mailbox {
    key: Key,
    peer: Peer,
    open: Mutex<Option<OutboxHold>>,
    #[cfg(feature = "auth")]
    until: Until,
    /// Share of all sessions. Its tenant is the client that opened the stream, and only this client may post here.
    share: Share,
}

impl Keyed for Mailbox {
    fn key(&self) -> &Key {
        &self.key
    }
}

impl Mailbox {
    /// Ends the session, and cancels its running calls.
    pub(super) fn close(&self) {
        self.stop();
        self.peer.cancel_all();
    }

    /// Lets the stream end.
    pub(super) fn stop(&self) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

/// Open stream of a session. When it is closed, the session ends with its calls (rule SSE-05).
pub(super) struct Pair {
    endpoint: Arc<Endpoint>,
    mailbox: Arc<Mailbox>,
}

impl Pair {
    pub(super) fn poll(&self, cx: &Context<'_>, lines: &mut Vec<u8>) -> Poll<bool> {
        self.mailbox.peer.outbox().poll_take(cx, lines)
    }

    #[cfg(feature = "auth")]
    pub(super) fn until(&self) -> &Until {
        &self.mailbox.until
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        self.endpoint.mailboxes.remove(&self.mailbox.key);
        self.mailbox.peer.cancel_all();
    }
}

/// Opens the stream. Its first event names the address to post to.
pub(super) fn open(desk: &Desk, head: &Head<'_>, parts: &Arc<Parts>) -> Response<Body> {
    let endpoint = &desk.endpoint;
    if !Accepts::said(head, &parts.headers).events {
        return reply::refuse(StatusCode::NOT_ACCEPTABLE, "the answer is a `text/event-stream`");
    }
    let tenant = endpoint.tenant(&Carrier::of_request(parts, desk.address_of(parts)));
    let Some(permit) = endpoint.permit(&tenant) else {
        return reply::busy("there are too many streams: try again later");
    };
    let (share, key) = match endpoint.share(&tenant).and_then(|it| Ok((it, id()?))) {
        Ok(taken) => taken,
        Err(why) => return reply::busy(why),
    };
    let remembered = Remembered::new(&endpoint.service);
    let peer = Peer::of_tenant(endpoint.service.clone(), remembered, tenant);
    let open = Mutex::new(Some(peer.outbox().hold()));
    let mailbox = Arc::new(Mailbox {
        key,
        peer,
        open,
        #[cfg(feature = "auth")]
        until: Until::of(&parts.extensions),
        share,
    });
    endpoint.mailboxes.insert(mailbox.clone());
    if endpoint.is_stopping() {
        mailbox.stop();
    }
    let mut first = Vec::new();
    // A relative address is right wherever the server is mounted.
    sse::endpoint(&mut first, &format!("{POST}?{ID}{key}"));
    let pair = Pair { endpoint: endpoint.clone(), mailbox };
    let events = Events::new(Feed::Pair(pair), first, endpoint.limits().keep_alive);
    reply::events(Body::events(events.counted(permit).expiring(&parts.extensions)))
}

/// Returns the session that the query names, if it belongs to this client.
///
/// # Errors
/// Returns the response to a request that names no such session.
fn named(endpoint: &Endpoint, parts: &Parts) -> Result<Arc<Mailbox>, Box<Response<Body>>> {
    let id = parts.uri.query().and_then(|it| it.split('&').find_map(|it| it.strip_prefix(ID)));
    let id = id.ok_or_else(|| {
        let why = format!("`?{ID}…` is missing: post to the address of the event `endpoint`");
        Box::new(reply::refuse(StatusCode::BAD_REQUEST, why))
    })?;
    let principal = Principal::named_in(&parts.extensions);
    let found = Key::parse(id.as_bytes()).and_then(|it| endpoint.mailboxes.find(&it));
    let found = found.filter(|it| *it.share.tenant().principal() == *principal);
    found.ok_or_else(|| Box::new(reply::no_session("open a new stream")))
}

/// Checks the head of a request before its message is read.
///
/// # Errors
/// Returns the response to a request whose message is not read.
pub(super) fn check(
    endpoint: &Endpoint,
    head: &Head<'_>,
    parts: &Parts,
) -> Result<(), Box<Response<Body>>> {
    named(endpoint, parts)?;
    if is_json(head) { Ok(()) } else { Err(reply::unsupported(head.content_type.first).into()) }
}

/// Handles a message. The answer is sent on the stream.
pub(super) fn post(
    endpoint: &Endpoint,
    carrier: Carrier,
    parts: &Parts,
    read: &Read,
) -> Response<Body> {
    // The session is looked up again, because it may have ended while the body came.
    let mailbox = match named(endpoint, parts) {
        Ok(mailbox) => mailbox,
        Err(unnamed) => return *unnamed,
    };
    #[cfg(feature = "auth")]
    mailbox.until.show(&parts.extensions);
    let peer = &mailbox.peer;
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
        // The answer to a message that cannot be read is sent on the stream too.
        Err(_) => peer.receive(&read.bytes, &mut turn),
    }
    spawn(turn.waiting);
    reply::empty(StatusCode::ACCEPTED)
}
