//! Requests of sessions: protocol revisions 2025-03-26 to 2025-11-25.

use std::{net::IpAddr, sync::Arc};

use http::{HeaderMap, HeaderValue, Response, StatusCode, request::Parts};
use mcp_runtime_wire::{Id, Incoming, RpcMessage};

#[cfg(feature = "auth")]
use super::token_gate;
use super::{
    answer_source::{AnswerForm, AnswerSource},
    body::{EventFeed, EventStream, HttpBody},
    connection_state::ConnectionState,
    endpoint::Endpoint,
    head::{Accepts, Head, SESSION_HEADER},
    reply::{self, HttpAnswer},
    session::HttpSession,
    session_table::{HasSessionId as _, SessionId},
    shared_copies,
    shared_stream::{SharedAnswer, SharedReader},
    sse::{self, EventId, Gone},
};
use crate::{
    call::context::{Carrier, Principal},
    error::{Error, ErrorKind, shown},
    limits::{Limit, Share},
    protocol::{Arrival, Era, Outbox, Received, RefusalStatus, ReplyTo, Revision, VERSION_HEADER},
};

const LAST_EVENT: &str = "last-event-id";

/// Begins a session. If the headers name an existing session, this session continues with a new client instead. The response contains the
/// id of the session.
pub(super) fn initialize(
    endpoint: &Arc<Endpoint>,
    incoming: Incoming<'_>,
    carrier: Carrier,
    head: &Head<'_>,
    accepts: Accepts,
) -> HttpAnswer {
    let address = carrier.address;
    let id = incoming.id().filter(|_| endpoint.shared.is_some()).map(|id| id.as_str().to_owned());
    if head.session.first.is_some() {
        return match find(endpoint, head, carrier.principal()) {
            Ok(session) => {
                show_token(&session, &carrier);
                let (_, response) = begin(&session, incoming, carrier, accepts);
                begun(endpoint, session, response, (address, true), id)
            }
            Err(unnamed) => unnamed.reply(incoming.id()).into(),
        };
    }
    // If several nodes share the session, the other nodes continue it, so it may still begin.
    if endpoint.is_stopping() && endpoint.shared.is_none() {
        return reply::busy("the server is stopping").into();
    }
    let session = match endpoint.new_session(&carrier) {
        Ok(session) => Arc::new(session),
        Err(why) => return reply::busy(why).into(),
    };
    show_token(&session, &carrier);
    let (has_begun, response) = begin(&session, incoming, carrier, accepts);
    if !has_begun {
        return response.into();
    }
    begun(endpoint, session, response, (address, false), id)
}

/// Adds a session that has begun to the table, unless it was known before. If the server has several nodes, the session is stored before
/// the client learns its id. `id` is the id of the request, as JSON text.
fn begun(
    endpoint: &Arc<Endpoint>,
    session: Arc<HttpSession>,
    response: Response<HttpBody>,
    (address, was_known): (Option<IpAddr>, bool),
    id: Option<String>,
) -> HttpAnswer {
    let response = with_id(&session, response);
    if endpoint.shared.is_none() {
        endpoint.sessions.insert(session);
        return response.into();
    }
    let endpoint = endpoint.clone();
    HttpAnswer::later(async move {
        match shared_copies::begin(&endpoint, &session, address, was_known).await {
            Ok(()) => {
                endpoint.sessions.insert(session);
                response.into()
            }
            Err(why) => reply::busy_for(reply::id_of(id.as_deref()), why).into(),
        }
    })
}

/// Adds the header that names the session.
fn with_id(session: &HttpSession, mut response: Response<HttpBody>) -> Response<HttpBody> {
    if let Ok(id) = HeaderValue::from_bytes(session.id().as_bytes()) {
        response.headers_mut().insert(SESSION_HEADER, id);
    }
    response
}

fn show_token(session: &HttpSession, carrier: &Carrier) {
    if let Some(http) = &carrier.http {
        session.show(&http.extensions);
    }
}

/// Passes an `initialize` request to a session. Returns whether the session has begun, and the response.
fn begin(
    session: &HttpSession,
    incoming: Incoming<'_>,
    carrier: Carrier,
    accepts: Accepts,
) -> (bool, Response<HttpBody>) {
    // The response goes to a new outbox, because the session's own outbox is for messages that belong to no request.
    let outbox = Arc::<Outbox>::default();
    let arrival = Arrival { to: ReplyTo::each(outbox.clone()), carrier, era: Era::OfRequest };
    let mut turn = Received::default();
    session.peer.handle(&incoming, &arrival, &mut turn);
    let mut message = Vec::new();
    outbox.take(&mut message);
    let has_begun = session.peer.has_begun();
    if has_begun && !accepts.json {
        let mut event = Vec::new();
        sse::messages(&mut event, &message, None);
        return (has_begun, reply::events(HttpBody::whole(event.into())));
    }
    message.pop();
    (has_begun, reply::json(status(&turn), message))
}

fn status(turn: &Received) -> StatusCode {
    match turn.refusal {
        Some(RefusalStatus::Malformed) => StatusCode::BAD_REQUEST,
        _ => StatusCode::OK,
    }
}

/// Answers a message posted in a session.
#[inline]
pub(super) fn post(
    state: &ConnectionState,
    incoming: Incoming<'_>,
    carrier: Carrier,
    head: &Head<'_>,
    accepts: Accepts,
) -> HttpAnswer {
    let session = match find(&state.endpoint, head, carrier.principal()) {
        Ok(session) => session,
        Err(unnamed) => return unnamed.reply(incoming.id()).into(),
    };
    show_token(&session, &carrier);
    let outbox = state.outbox();
    let to = ReplyTo::each(outbox.clone());
    let to = match (accepts.events, session.resumes()) {
        (false, _) => to.only_response(),
        (true, true) => to.resumable(),
        (true, false) => to,
    };
    let mut turn = Received::default();
    let arrival = Arrival { to, carrier, era: Era::OfRequest };
    session.peer.handle(&incoming, &arrival, &mut turn);
    #[cfg(feature = "auth")]
    if let Some(RefusalStatus::NotAllowed(why)) = &turn.refusal {
        let mut message = Vec::new();
        outbox.take(&mut message);
        message.pop();
        return token_gate::not_allowed(why, &state.endpoint, &arrival.carrier, message).into();
    }
    // Drops the reference to the outbox that `arrival` holds. The outbox can be reused for the next request only if `outbox` is the last
    // reference to it.
    drop(arrival);
    let status = status(&turn);
    // Runs the calls as tokio tasks, so that they continue if the client disconnects (rule HL-10).
    for call in turn.waiting {
        let session = session.clone();
        // The end of a call counts as a use of its session.
        tokio::spawn(async move {
            call.await;
            session.touch();
        });
    }
    let requests = match state.endpoint.shared {
        Some(_) => request_ids(&incoming),
        None => Vec::new(),
    };
    let posted = |outbox| {
        let source = AnswerSource::of_session(outbox);
        Posted { endpoint: state.endpoint.clone(), session, source, status, requests }
    };
    match AnswerForm::at_once(&outbox, accepts) {
        Some(AnswerForm::Whole(message)) => {
            // A session refuses a request with a status of its own only if a shared store is unavailable. Without such a store, the lookup
            // is skipped.
            let refusal = state.endpoint.shared.as_ref().and_then(|_| outbox.refusal());
            state.keep_outbox(outbox);
            reply::message(status, refusal, message)
        }
        Some(begun) => posted(outbox).answer(begun),
        None => HttpAnswer::later(posted(outbox).wait(accepts)),
    }
}

/// Message that a client has posted, after the session has handled it.
struct Posted {
    endpoint: Arc<Endpoint>,
    session: Arc<HttpSession>,
    source: AnswerSource,
    status: StatusCode,
    /// Ids of the requests in the message, as JSON texts. Empty if the server has a single node.
    requests: Vec<String>,
}

fn request_ids(incoming: &Incoming<'_>) -> Vec<String> {
    let id = |message: &RpcMessage<'_>| match message {
        RpcMessage::Request { id, .. } => Some(id.as_str().to_owned()),
        _ => None,
    };
    match incoming {
        Incoming::One(message) => message.iter().filter_map(id).collect(),
        Incoming::Batch(messages) => messages.iter().flatten().filter_map(id).collect(),
        Incoming::EmptyBatch => Vec::new(),
    }
}

impl Posted {
    async fn wait(mut self, accepts: Accepts) -> HttpAnswer {
        let keep_alive = self.endpoint.limits().keep_alive;
        let begun = self.source.decide(accepts, keep_alive).await;
        self.answer(begun)
    }

    fn answer(self, begun: AnswerForm) -> HttpAnswer {
        let lines = match begun {
            AnswerForm::Nothing => return reply::empty(StatusCode::ACCEPTED).into(),
            AnswerForm::Whole(message) => {
                return reply::message(self.status, self.source.refusal(), message);
            }
            AnswerForm::Stream(lines) => lines,
        };
        let mut first = Vec::new();
        let permit = self.endpoint.permit(self.session.tenant());
        if let (Some(shared), Some(_)) = (&self.endpoint.shared, &permit) {
            let log = shared.new_stream(self.session.id());
            let kept = shared.kept(&log, None);
            let (session, outbox) = (self.session.clone(), self.source.outbox().clone());
            let number = log.number();
            let answer = SharedAnswer::new((log, kept), session, outbox, lines, self.requests);
            shared.attach(self.session.id(), number, answer.reader());
            let feed = EventFeed::Shared(SharedReader::Answer(Box::new(answer)));
            let events = EventStream::new(feed, first, self.endpoint.limits().keep_alive);
            let events = match permit {
                Some(permit) => events.counted(permit),
                None => events,
            };
            return reply::events(HttpBody::events(events)).into();
        }
        let open = || self.session.open_stream(self.source.outbox());
        let feed = match permit.as_ref().and_then(|_| open()) {
            Some(mut reader) => {
                reader.prime(&mut first);
                reader.begin(&lines, &mut first);
                EventFeed::Resumable(reader)
            }
            // There are too many streams to keep this one, so it has no event ids and cannot be resumed.
            None => {
                sse::messages(&mut first, &lines, None);
                EventFeed::Plain(self.source)
            }
        };
        let events = EventStream::new(feed, first, self.endpoint.limits().keep_alive);
        let events = match permit {
            Some(permit) => events.counted(permit),
            None => events,
        };
        reply::events(HttpBody::events(events)).into()
    }
}

/// Checks a request for a stream. Returns its session, and its share of the limit on streams.
///
/// # Errors
/// Returns the response if the request is refused.
pub(super) fn check_get(
    endpoint: &Arc<Endpoint>,
    head: &Head<'_>,
    parts: &Parts,
) -> Result<(Arc<HttpSession>, Share), Box<Response<HttpBody>>> {
    if !Accepts::by(head, &parts.headers).events {
        let why = "the answer is a `text/event-stream`, which `Accept` does not name";
        return Err(reply::refuse(StatusCode::NOT_ACCEPTABLE, why).into());
    }
    let session = find(endpoint, head, Principal::named_in(&parts.extensions));
    let session = session.map_err(|unnamed| unnamed.reply(None))?;
    let too_many = || reply::busy("there are too many streams: try again later");
    let permit = endpoint.permit(session.tenant()).ok_or_else(too_many)?;
    session.show(&parts.extensions);
    Ok((session, permit))
}

/// Answers a request for a stream with its events.
pub(super) fn stream(
    endpoint: &Endpoint,
    feed: EventFeed,
    permit: Share,
    parts: &Parts,
) -> Response<HttpBody> {
    let events = EventStream::new(feed, Vec::new(), endpoint.limits().keep_alive);
    reply::events(HttpBody::events(events.counted(permit).expiring(&parts.extensions)))
}

/// Refuses to resume a stream.
pub(super) fn gone(endpoint: &Endpoint, why: Gone) -> Response<HttpBody> {
    if why == Gone::Forgotten {
        endpoint.service.tally().refuse(Limit::Events);
    }
    let why =
        "the stream cannot be resumed from this event: the event is no longer stored, or never was";
    reply::refuse(StatusCode::BAD_REQUEST, why)
}

/// Returns the event after which the client resumes a stream, if it names one.
pub(super) fn last_event(headers: &HeaderMap) -> Option<Result<EventId, Gone>> {
    let last = headers.get(LAST_EVENT)?.to_str().ok().and_then(EventId::parse);
    Some(last.ok_or(Gone::Unknown))
}

/// Opens the stream for messages that belong to no request, or resumes a broken stream.
pub(super) fn get(endpoint: &Arc<Endpoint>, head: &Head<'_>, parts: &Parts) -> Response<HttpBody> {
    let (session, permit) = match check_get(endpoint, head, parts) {
        Ok(checked) => checked,
        Err(refused) => return *refused,
    };
    let reader = match last_event(&parts.headers) {
        // This stream does not begin with a priming event: some clients read every event as a message, and report an error for an empty
        // event.
        None => session.listen(),
        Some(last) => last.and_then(|last| session.resume(last)),
    };
    match reader {
        Ok(reader) => stream(endpoint, EventFeed::Resumable(reader), permit, parts),
        Err(why) => gone(endpoint, why),
    }
}

/// Ends a session.
pub(super) fn delete(
    endpoint: &Arc<Endpoint>,
    head: &Head<'_>,
    principal: &str,
) -> Response<HttpBody> {
    match find(endpoint, head, principal) {
        Ok(session) => {
            let id = head.session.first.and_then(|id| SessionId::parse(id.as_bytes()));
            id.and_then(|id| endpoint.sessions.remove(&id));
            session.close();
            reply::empty(StatusCode::NO_CONTENT)
        }
        Err(unnamed) => unnamed.reply(None),
    }
}

/// Returns the session that the headers name. Fails if the protocol revision in the headers is not that of the session. A session of a
/// different principal counts as unknown.
pub(super) fn find(
    endpoint: &Arc<Endpoint>,
    head: &Head<'_>,
    principal: &str,
) -> Result<Arc<HttpSession>, Unnamed> {
    for (field, name) in [(head.session, SESSION_HEADER), (head.version, VERSION_HEADER)] {
        if field.is_repeated {
            return Err(Unnamed::Refused(format!("the header `{name}` is repeated")));
        }
    }
    let id = head.session.first.ok_or(Unnamed::Missing)?;
    let session = SessionId::parse(id.as_bytes()).and_then(|id| endpoint.find(&id, principal));
    let session = session.ok_or(Unnamed::Unknown)?;
    let revision = session.revision();
    match head.version.first {
        Some(version) if version != revision.name() => {
            let version = String::from_utf8_lossy(version.as_bytes());
            Err(Unnamed::Refused(format!(
                "`MCP-Protocol-Version` is `{}`, but the session uses {revision}",
                shown(&version)
            )))
        }
        _ => Ok(session),
    }
}

/// Reason why the headers do not identify a session.
pub(super) enum Unnamed {
    Missing,
    /// The session has ended, or never existed.
    Unknown,
    /// The headers contradict each other or the session.
    Refused(String),
}

impl Unnamed {
    fn reply(self, id: Option<Id<'_>>) -> Response<HttpBody> {
        let refuse = |status, why: &str| {
            reply::error(status, None, id, &Error::of(ErrorKind::InvalidRequest, why))
        };
        match self {
            Self::Missing => refuse(
                StatusCode::BAD_REQUEST,
                &format!(
                    "the header `Mcp-Session-Id` is missing: the response to `initialize` has its value; or send `MCP-Protocol-Version: {}`, which needs no session",
                    Revision::MODERN[0].name()
                ),
            ),
            Self::Unknown => reply::no_session("send `initialize` without `Mcp-Session-Id`"),
            Self::Refused(why) => refuse(StatusCode::BAD_REQUEST, &why),
        }
    }
}

/// Returns the revision of the session that the headers name, if they name one.
pub(super) fn revision(
    endpoint: &Arc<Endpoint>,
    head: &Head<'_>,
    principal: &str,
) -> Option<Revision> {
    find(endpoint, head, principal).ok().map(|session| session.revision())
}
