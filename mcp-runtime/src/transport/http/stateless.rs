//! Stateless requests: the modern era over HTTP.

use std::{sync::Arc, time::Duration};

use http::{StatusCode, request::Parts};
use mcp_runtime_wire::{Incoming, RpcMessage};

#[cfg(feature = "auth")]
use super::token_gate;
use super::{
    answer_source::{AnswerForm, AnswerSource},
    body::{EventFeed, EventStream, HttpBody},
    connection_state::ConnectionState,
    head::Accepts,
    reply::{self, HttpAnswer},
    sse,
};
use crate::{
    call::context::Carrier,
    limits::Share,
    protocol::{Arrival, Era, Received, RefusalStatus, ReplyTo},
};

/// Answers one message of the modern era.
pub(super) fn answer(
    state: &ConnectionState,
    incoming: Incoming<'_>,
    carrier: Carrier,
    accepts: Accepts,
    listens: bool,
) -> HttpAnswer {
    let endpoint = &state.endpoint;
    match &incoming {
        Incoming::One(Ok(RpcMessage::Request { .. })) => {}
        // Ignores all notifications, even cancellations: a cancellation names a request id, which is unique only within one client, so it
        // cannot identify a call here (rule C-08).
        Incoming::One(Ok(RpcMessage::Notification { .. })) => {
            return reply::empty(StatusCode::ACCEPTED).into();
        }
        Incoming::One(Ok(RpcMessage::Response { .. })) => {
            let why = "clients must not send responses in this revision";
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
    // The messages of a call are for the caller that was admitted, so they are sent even after the caller's token has expired. A listen
    // stream stays open for future messages, so it ends when the token of its request expires.
    let listening = permit.map(|permit| OpenListen { permit, opened_by: carrier.http.clone() });
    let peer = state.peer();
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
            RefusalStatus::Malformed => HttpAnswer::Json(StatusCode::BAD_REQUEST, message),
            RefusalStatus::UnknownMethod => HttpAnswer::Json(StatusCode::NOT_FOUND, message),
            RefusalStatus::Busy => {
                reply::later(reply::json(StatusCode::SERVICE_UNAVAILABLE, message)).into()
            }
            #[cfg(feature = "auth")]
            RefusalStatus::NotAllowed(why) => {
                token_gate::not_allowed(&why, endpoint, &arrival.carrier, message).into()
            }
        };
    }
    // Drops the reference to the peer's outbox that `arrival` holds. The peer can be reused for the next request only if there are no other
    // references to the peer or its outbox.
    drop(arrival);
    let keep_alive = endpoint.limits().keep_alive;
    let at_once = turn.waiting.is_empty().then(|| AnswerForm::at_once(peer.outbox(), accepts));
    match at_once.flatten() {
        Some(AnswerForm::Whole(message)) => {
            let refusal = peer.outbox().refusal();
            state.keep_peer(peer);
            reply::message(StatusCode::OK, refusal, message)
        }
        Some(begun) => {
            respond(begun, AnswerSource::stateless(peer, turn.waiting), listening, keep_alive)
        }
        None => HttpAnswer::later(async move {
            let mut source = AnswerSource::stateless(peer, turn.waiting);
            let begun = source.decide(accepts, keep_alive).await;
            respond(begun, source, listening, keep_alive)
        }),
    }
}

/// Permit and request of a listen stream, which stays open for future messages.
struct OpenListen {
    permit: Share,
    opened_by: Option<Arc<Parts>>,
}

fn respond(
    begun: AnswerForm,
    source: AnswerSource,
    listening: Option<OpenListen>,
    keep_alive: Duration,
) -> HttpAnswer {
    match begun {
        AnswerForm::Whole(message) => reply::message(StatusCode::OK, source.refusal(), message),
        AnswerForm::Nothing => reply::empty(StatusCode::ACCEPTED).into(),
        AnswerForm::Stream(lines) => {
            let mut first = Vec::new();
            sse::messages(&mut first, &lines, None);
            let events = EventStream::new(EventFeed::Plain(source), first, keep_alive);
            let events = match listening {
                Some(OpenListen { permit, opened_by: Some(parts) }) => {
                    events.counted(permit).expiring(&parts.extensions)
                }
                Some(OpenListen { permit, opened_by: None }) => events.counted(permit),
                None => events,
            };
            reply::events(HttpBody::events(events)).into()
        }
    }
}
