//! Requests that stand alone: the modern era over HTTP (B8).

use std::sync::Arc;

use http::{Response, StatusCode};

use super::{
    accept::Accepts,
    body::Body,
    endpoint::Endpoint,
    events::{Events, Feed},
    reply,
    source::{Begun, Source},
};
use crate::{
    context::Carrier,
    protocol::{Arrival, Peer, Refusal, Remembered, ReplyTo, Turn},
    wire::{Incoming, Message},
};

/// Answers one message.
pub(super) async fn answer(
    endpoint: &Arc<Endpoint>,
    remembered: &Arc<Remembered>,
    incoming: Incoming<'_>,
    carrier: Carrier,
    accepts: Accepts,
    listens: bool,
) -> Response<Body> {
    match &incoming {
        Incoming::One(Ok(Message::Request { .. })) => {}
        // Also a cancellation: an id names nothing across connections (C-08).
        Incoming::One(Ok(Message::Notification { .. })) => {
            return reply::empty(StatusCode::ACCEPTED);
        }
        Incoming::One(Ok(Message::Response { .. })) => {
            let why = "clients send no responses in this revision";
            return reply::refuse(StatusCode::BAD_REQUEST, why);
        }
        _ => return reply::refuse(StatusCode::BAD_REQUEST, "one message at a time"),
    }
    let permit = match (listens, accepts.events) {
        (false, _) => None,
        (true, false) => {
            let why = "the answer is a `text/event-stream`, which `Accept` does not name";
            return reply::refuse(StatusCode::NOT_ACCEPTABLE, why);
        }
        (true, true) => match endpoint.permit() {
            None => return reply::busy("there are too many streams: try again later"),
            permit => permit,
        },
    };
    let peer = Peer::remembering(endpoint.service.clone(), remembered.clone());
    let to = ReplyTo::each(peer.outbox().clone());
    let to = if accepts.events { to } else { to.quiet() };
    let mut turn = Turn::default();
    peer.handle(&incoming, &Arrival { to, carrier, is_modern: true }, &mut turn);
    if let Some(refusal) = turn.refusal {
        let mut message = Vec::new();
        peer.outbox().take(&mut message);
        message.pop();
        return match refusal {
            Refusal::Malformed => reply::json(StatusCode::BAD_REQUEST, message),
            Refusal::UnknownMethod => reply::json(StatusCode::NOT_FOUND, message),
            Refusal::Busy => reply::later(reply::json(StatusCode::SERVICE_UNAVAILABLE, message)),
        };
    }
    let mut source = Source::alone(peer, turn.waiting);
    let keep_alive = endpoint.limits().keep_alive;
    match source.begin(accepts, keep_alive).await {
        Begun::Whole(message) if source.is_refused() => {
            reply::json(StatusCode::BAD_REQUEST, message)
        }
        Begun::Whole(message) => reply::json(StatusCode::OK, message),
        Begun::Nothing => reply::empty(StatusCode::ACCEPTED),
        Begun::Stream(lines) => {
            let mut first = Vec::new();
            super::sse::messages(&mut first, &lines, None);
            let events = Events::new(Feed::Plain(source), first, keep_alive);
            reply::events(Body::events(match permit {
                Some(permit) => events.counted(permit),
                None => events,
            }))
        }
    }
}
