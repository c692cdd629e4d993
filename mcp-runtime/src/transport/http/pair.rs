//! HTTP+SSE, the transport of 2024-11-05: a stream for everything the server says, and an address to post to (B6).

use std::{
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
};

use http::{Response, StatusCode, header, request::Parts};
use http_body::Body as HttpBody;

use super::{
    accept::{Accepts, is_json},
    body::Body,
    endpoint::{Endpoint, Place, id},
    events::{Events, Feed},
    read::read,
    reply, sse,
};
use crate::{
    context::{Carrier, Principal},
    protocol::{Arrival, Hold, Peer, ReplyTo, Route, Turn, route},
    transport::stream::spawn,
    wire,
};

/// The last segments of the two addresses.
pub(super) const STREAM: &str = "sse";
pub(super) const POST: &str = "message";
const ID: &str = "sessionId=";

/// Where a client posts to while its stream is open.
pub(super) struct Mailbox {
    /// Who opened the stream: nobody else posts here.
    principal: Box<str>,
    peer: Peer,
    open: Mutex<Option<Hold>>,
    _place: Place,
}

impl Mailbox {
    /// Ends it, and gives up what runs.
    pub(super) fn close(&self) {
        self.stop();
        self.peer.cancel_all();
    }

    /// Lets the stream end.
    pub(super) fn stop(&self) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

/// The stream: when it is closed, the session ends with its calls (SSE-05).
pub(super) struct Pair {
    endpoint: Arc<Endpoint>,
    id: String,
    mailbox: Arc<Mailbox>,
}

impl Pair {
    pub(super) fn poll(&self, cx: &Context<'_>, lines: &mut Vec<u8>) -> Poll<bool> {
        self.mailbox.peer.outbox().poll_take(cx, lines)
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        self.endpoint.mailboxes.remove(&self.id);
        self.mailbox.peer.cancel_all();
    }
}

/// Opens the stream; its first event says where to post.
pub(super) fn open(endpoint: &Arc<Endpoint>, parts: &Parts) -> Response<Body> {
    if !Accepts::of(&parts.headers).events {
        return reply::refuse(StatusCode::NOT_ACCEPTABLE, "the answer is a `text/event-stream`");
    }
    let Some(permit) = endpoint.permit() else {
        return reply::busy("there are too many streams: try again later");
    };
    let (place, id) = match endpoint.place().and_then(|it| Ok((it, id()?))) {
        Ok(taken) => taken,
        Err(why) => return reply::busy(why),
    };
    let peer = Peer::new(endpoint.service.clone());
    let open = Mutex::new(Some(peer.outbox().hold()));
    let principal = Principal::named_in(&parts.extensions).into();
    let mailbox = Arc::new(Mailbox { principal, peer, open, _place: place });
    endpoint.mailboxes.insert(&id, mailbox.clone());
    if endpoint.is_stopping() {
        mailbox.stop();
    }
    let mut first = Vec::new();
    // Relative, so that it is right wherever the server is mounted.
    sse::endpoint(&mut first, &format!("{POST}?{ID}{id}"));
    let pair = Pair { endpoint: endpoint.clone(), id, mailbox };
    let events = Events::new(Feed::Pair(pair), first, endpoint.limits().keep_alive);
    reply::events(Body::events(events.counted(permit)))
}

/// Takes a message; what it is answered with comes on the stream.
pub(super) async fn post<B: HttpBody>(
    endpoint: &Arc<Endpoint>,
    parts: Parts,
    body: B,
) -> Response<Body> {
    let id = parts.uri.query().and_then(|it| it.split('&').find_map(|it| it.strip_prefix(ID)));
    let Some(id) = id.map(str::to_owned) else {
        return reply::refuse(
            StatusCode::BAD_REQUEST,
            format_args!("`?{ID}…` is missing: post to the address of the event `endpoint`"),
        );
    };
    let gone =
        || reply::refuse(StatusCode::NOT_FOUND, "there is no such session: open a new stream");
    let find = || {
        let principal = Principal::named_in(&parts.extensions);
        endpoint.mailboxes.find(&id).filter(|it| *it.principal == *principal)
    };
    if find().is_none() {
        return gone();
    }
    if !is_json(&parts.headers) {
        return reply::unsupported(parts.headers.get(header::CONTENT_TYPE));
    }
    let read = match read(body, endpoint).await {
        Ok(read) => read,
        Err(unread) => return unread.reply(endpoint.limits()),
    };
    // Looked for again: a session may end while a body is on its way.
    let Some(mailbox) = find() else { return gone() };
    let peer = &mailbox.peer;
    if peer.outbox().len() > endpoint.limits().event_bytes {
        return reply::busy("the stream has not been read for too long: read it first");
    }
    let mut turn = Turn::default();
    match wire::parse(&read.bytes, endpoint.limits().of_wire()) {
        Ok(incoming) if matches!(route(&incoming, None), Route::Modern | Route::Listen) => {
            let why = format!("requests of this revision go to {}", endpoint.settings.path);
            return reply::refuse(StatusCode::BAD_REQUEST, why);
        }
        Ok(incoming) => {
            let carrier = Carrier { http: Some(Arc::new(parts)) };
            let to = ReplyTo::each(peer.outbox().clone());
            peer.handle(&incoming, &Arrival { to, carrier, is_modern: false }, &mut turn);
        }
        // The answer to what cannot be read comes on the stream too.
        Err(_) => peer.receive(&read.bytes, &mut turn),
    }
    spawn(turn.waiting);
    reply::empty(StatusCode::ACCEPTED)
}
