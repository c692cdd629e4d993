//! Stateless requests: the modern era over HTTP.

use std::{sync::Arc, time::Duration};

use http::{StatusCode, request::Parts};
use mcp_runtime_wire::{Incoming, RpcMessage};

#[cfg(feature = "auth")]
use super::gate;
use super::{
    accept::Accepts,
    answering::Answer,
    body::Body,
    desk::Desk,
    events::{Events, Feed},
    reply,
    source::{Begun, Source},
    sse,
};
use crate::{
    call::context::Carrier,
    limits::Share,
    protocol::{Arrival, Era, Received, RefusalStatus, ReplyTo},
};

/// Answers one message.
pub(super) fn answer(
    desk: &Desk,
    incoming: Incoming<'_>,
    carrier: Carrier,
    accepts: Accepts,
    listens: bool,
) -> Answer {
    let endpoint = &desk.endpoint;
    match &incoming {
        Incoming::One(Ok(RpcMessage::Request { .. })) => {}
        // A cancellation is ignored too: the id of a request means nothing on another connection (rule C-08).
        Incoming::One(Ok(RpcMessage::Notification { .. })) => {
            return reply::empty(StatusCode::ACCEPTED).into();
        }
        Incoming::One(Ok(RpcMessage::Response { .. })) => {
            let why = "clients send no responses in this revision";
            return reply::refuse(StatusCode::BAD_REQUEST, why).into();
        }
        _ => return reply::refuse(StatusCode::BAD_REQUEST, "one message at a time").into(),
    }
    let permit = match (listens, accepts.events) {
        (false, _) => None,
        (true, false) => {
            let why = "the answer is a `text/event-stream`, which `Accept` does not name";
            return reply::refuse(StatusCode::NOT_ACCEPTABLE, why).into();
        }
        (true, true) => match endpoint.permit(&endpoint.tenant(&carrier)) {
            None => return reply::busy("there are too many streams: try again later").into(),
            permit => permit,
        },
    };
    // Messages of a call belong to the caller whose request was admitted. A listening stream stays open, so it must end with the token of
    // its request.
    let listening = permit.map(|it| Listening { permit: it, opened_by: carrier.http.clone() });
    let peer = desk.peer();
    let to = ReplyTo::each(peer.outbox().clone());
    let to = if accepts.events { to } else { to.only_response() };
    let mut turn = Received::default();
    let arrival = Arrival { to, carrier, era: Era::Modern };
    peer.handle(&incoming, &arrival, &mut turn);
    if let Some(refusal) = turn.refusal {
        let mut message = Vec::new();
        peer.outbox().take(&mut message);
        message.pop();
        return match refusal {
            RefusalStatus::Malformed => Answer::Json(StatusCode::BAD_REQUEST, message),
            RefusalStatus::UnknownMethod => Answer::Json(StatusCode::NOT_FOUND, message),
            RefusalStatus::Busy => {
                reply::later(reply::json(StatusCode::SERVICE_UNAVAILABLE, message)).into()
            }
            #[cfg(feature = "auth")]
            RefusalStatus::NotAllowed(why) => {
                gate::not_allowed(&why, endpoint, &arrival.carrier, message).into()
            }
        };
    }
    // The peer can be reused for the next request only if nothing else holds a part of it.
    drop(arrival);
    let keep_alive = endpoint.limits().keep_alive;
    let at_once = turn.waiting.is_empty().then(|| Begun::at_once(peer.outbox(), accepts));
    match at_once.flatten() {
        Some(Begun::Whole(message)) => {
            let is_refused = peer.outbox().is_refused();
            desk.keep_peer(peer);
            Answer::Json(status(is_refused), message)
        }
        Some(begun) => decided(begun, Source::alone(peer, turn.waiting), listening, keep_alive),
        None => Answer::later(async move {
            let mut source = Source::alone(peer, turn.waiting);
            let begun = source.begin(accepts, keep_alive).await;
            decided(begun, source, listening, keep_alive)
        }),
    }
}

fn status(is_refused: bool) -> StatusCode {
    if is_refused { StatusCode::BAD_REQUEST } else { StatusCode::OK }
}

/// A stream that stays open for messages to come.
struct Listening {
    permit: Share,
    opened_by: Option<Arc<Parts>>,
}

fn decided(
    begun: Begun,
    source: Source,
    listening: Option<Listening>,
    keep_alive: Duration,
) -> Answer {
    match begun {
        Begun::Whole(message) => Answer::Json(status(source.is_refused()), message),
        Begun::Nothing => reply::empty(StatusCode::ACCEPTED).into(),
        Begun::Stream(lines) => {
            let mut first = Vec::new();
            sse::messages(&mut first, &lines, None);
            let events = Events::new(Feed::Plain(source), first, keep_alive);
            let events = match listening {
                Some(Listening { permit, opened_by: Some(parts) }) => {
                    events.counted(permit).expiring(&parts.extensions)
                }
                Some(Listening { permit, opened_by: None }) => events.counted(permit),
                None => events,
            };
            reply::events(Body::events(events)).into()
        }
    }
}
