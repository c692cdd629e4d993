//! Path of a request: checks its head, verifies its token, reads its body, and passes its message to the code of the protocol era.

use std::{
    convert::Infallible,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use http::{HeaderValue, Method, Response, StatusCode, request::Parts};
use mcp_runtime_wire::{self as wire, Id, Incoming, Parsed};

#[cfg(feature = "auth")]
use super::token_gate::{self, TokenGate};
use super::{
    access::{allow_page, allow_request},
    body::HttpBody,
    connection_state::{ActiveRequest, ConnectionState},
    endpoint::Endpoint,
    head::{Accepts, Head, check_media_type},
    legacy_sse,
    reply::{self, HttpAnswer, PendingAnswer},
    request_body::{BodyReader, RequestBody, RequestBytes},
    route::HttpRoute,
    session_requests,
    session_table::SessionId,
    shared_copies, shared_requests, stateless,
};
#[cfg(feature = "playground")]
use super::{
    playground::{REMOTE, is_of_this_machine},
    playground_view,
};
use crate::{
    call::context::{Carrier, Principal},
    error::{Error, ErrorKind},
    limits::{Limit, Share},
    protocol::{self, Route},
};

/// Future that answers a request. Most requests are answered as soon as their bodies have arrived. Only a call that has to wait needs a
/// further future, which is boxed.
pub(super) struct RequestFuture<B> {
    active: ActiveRequest,
    route: HttpRoute,
    parts: Arc<Parts>,
    body: BodyReader<B>,
    is_admitted: bool,
    #[cfg(feature = "auth")]
    gate: TokenGate,
    /// Origin of the web page that may read the response.
    origin: Option<HeaderValue>,
    waiting: Option<PendingAnswer>,
    /// Share of the limit on connections, held while the call waits.
    connection: Option<Share>,
}

impl<B: RequestBody> RequestFuture<B> {
    pub(super) fn new(active: ActiveRequest, route: HttpRoute, parts: Parts, body: B) -> Self {
        Self {
            active,
            route,
            parts: Arc::new(parts),
            body: BodyReader::of(body),
            is_admitted: false,
            #[cfg(feature = "auth")]
            gate: TokenGate::default(),
            origin: None,
            waiting: None,
            connection: None,
        }
    }
}

/// Checks the address, the size of the head, the host and the origin of a request.
///
/// # Errors
/// Returns the response if the request is refused, or if this function itself answers the request: a health check, a preflight request, or
/// a request for the metadata.
fn admit(
    route: HttpRoute,
    endpoint: &Arc<Endpoint>,
    parts: &Parts,
    head: &Head<'_>,
    origin: &mut Option<HeaderValue>,
) -> Result<(), Box<Response<HttpBody>>> {
    match route {
        HttpRoute::Health => return Err(reply::text(StatusCode::OK, "ok\n").into()),
        HttpRoute::Readiness if endpoint.is_draining() || endpoint.is_stopping() => {
            return Err(reply::text(StatusCode::SERVICE_UNAVAILABLE, "stopping\n").into());
        }
        HttpRoute::Readiness if endpoint.service.is_store_away() => {
            let why = "the store is not available\n";
            return Err(reply::text(StatusCode::SERVICE_UNAVAILABLE, why).into());
        }
        HttpRoute::Readiness => return Err(reply::text(StatusCode::OK, "ready\n").into()),
        _ => {}
    }
    let limit = endpoint.limits().head;
    if head.size + parts.uri.path().len() + parts.uri.query().map_or(0, str::len) > limit {
        endpoint.service.tally().refuse(Limit::Head);
        let why = format!("the head of the request is longer than {limit} bytes");
        return Err(reply::refuse(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, why).into());
    }
    let access = endpoint.access.check(head, &parts.uri);
    *origin = access.map_err(|(status, why)| Box::new(reply::refuse(status, why)))?;
    #[cfg(feature = "auth")]
    if let HttpRoute::AuthPage(false) = route {
        *origin = None;
    }
    if parts.method == Method::OPTIONS {
        let mut response = reply::empty(StatusCode::NO_CONTENT);
        allow_request(response.headers_mut(), &parts.headers);
        return Err(response.into());
    }
    match route {
        HttpRoute::Full => {
            return Err(reply::busy("there are too many connections: try again later").into());
        }
        HttpRoute::Unknown => {
            let why = format!("there is nothing here: the endpoint is {}", endpoint.settings.path);
            return Err(reply::refuse(StatusCode::NOT_FOUND, why).into());
        }
        _ => {}
    }
    #[cfg(feature = "playground")]
    if let (HttpRoute::Playground | HttpRoute::PlaygroundView, Some(page)) =
        (route, &endpoint.playground)
    {
        // No page of another origin needs to read this page.
        *origin = None;
        if !endpoint.settings.playground.is_remote_allowed && !is_of_this_machine(parts) {
            return Err(reply::refuse(StatusCode::FORBIDDEN, REMOTE.to_owned()).into());
        }
        if !matches!(parts.method, Method::GET | Method::HEAD) {
            return Err(reply::not_allowed("GET, HEAD").into());
        }
        if let HttpRoute::Playground = route {
            return Err(page.answer(&parts.headers).map(HttpBody::whole).into());
        }
        let view = playground_view::answer(parts.uri.query().unwrap_or_default());
        return Err(match view {
            Ok(view) => view.map(HttpBody::whole).into(),
            Err(why) => reply::refuse(StatusCode::BAD_REQUEST, why).into(),
        });
    }
    #[cfg(feature = "auth")]
    if let (HttpRoute::Metadata, Some(protected)) = (route, &endpoint.settings.protected) {
        let is_asked = matches!(parts.method, Method::GET | Method::HEAD);
        let document = || token_gate::metadata(endpoint, protected, parts);
        return Err(if is_asked { document() } else { reply::not_allowed("GET, HEAD") }.into());
    }
    Ok(())
}

/// Checks the method and the media types of a request, and answers requests whose bodies are not read.
///
/// # Errors
/// Returns the response to a request that is refused or answered without its body.
fn answer_without_body(
    route: HttpRoute,
    state: &ConnectionState,
    parts: &Arc<Parts>,
    head: &Head<'_>,
) -> Result<(), Box<Response<HttpBody>>> {
    let endpoint = &state.endpoint;
    match (route, &parts.method) {
        (HttpRoute::Endpoint, &Method::POST) => {
            let accepts = Accepts::by(head, &parts.headers);
            if !accepts.json && !accepts.events {
                let why = "`Accept` must name `application/json` and `text/event-stream`";
                return Err(reply::refuse(StatusCode::NOT_ACCEPTABLE, why).into());
            }
            check_media_type(head).map_err(reply::unsupported)?;
        }
        (HttpRoute::Endpoint | HttpRoute::SseStream, &Method::GET)
            if !state.may_keep_connection(&Carrier::of_request(parts, state.address_of(parts))) =>
        {
            return Err(reply::busy(no_connection(endpoint)).into());
        }
        // Sessions and streams of several nodes need the store, for which the caller of this function waits.
        (HttpRoute::Endpoint, &(Method::GET | Method::DELETE)) if endpoint.shared.is_some() => {}
        (HttpRoute::Endpoint, &Method::GET) => {
            return Err(session_requests::get(endpoint, head, parts).into());
        }
        (HttpRoute::Endpoint, &Method::DELETE) => {
            let principal = Principal::named_in(&parts.extensions);
            return Err(session_requests::delete(endpoint, head, principal).into());
        }
        (HttpRoute::Endpoint, _) => return Err(reply::not_allowed("GET, POST, DELETE").into()),
        #[cfg(feature = "auth")]
        (HttpRoute::AuthPage(_), &(Method::GET | Method::POST)) => {}
        #[cfg(feature = "auth")]
        (HttpRoute::AuthPage(true), &Method::HEAD) => {}
        #[cfg(feature = "auth")]
        (HttpRoute::AuthPage(_), _) => return Err(reply::not_allowed("GET, HEAD, POST").into()),
        (HttpRoute::SseStream, &Method::GET) if endpoint.shared.is_some() => {}
        (HttpRoute::SseStream, &Method::GET) => {
            return Err(legacy_sse::open(state, head, parts).into());
        }
        (HttpRoute::SseStream, _) => return Err(reply::not_allowed("GET").into()),
        (_, &Method::POST) => legacy_sse::check(endpoint, head, parts)?,
        (..) => return Err(reply::not_allowed("POST").into()),
    }
    Ok(())
}

/// Parses a message, and passes it to the code of its protocol era.
fn handle(
    route: HttpRoute,
    state: &Arc<ConnectionState>,
    parts: &Arc<Parts>,
    head: &Head<'_>,
    read: &RequestBytes,
) -> HttpAnswer {
    let (endpoint, address) = (&state.endpoint, state.address_of(parts));
    if matches!(route, HttpRoute::SsePost) {
        return legacy_sse::post(endpoint, Carrier::of_request(parts, address), parts, read);
    }
    #[cfg(feature = "auth")]
    if let HttpRoute::AuthPage(_) = route {
        return token_gate::auth_page(endpoint, parts, read, address);
    }
    if matches!(parts.method, Method::GET | Method::DELETE) {
        if let HttpRoute::SseStream = route {
            return legacy_sse::open_shared(state, parts);
        }
        return shared_requests::get_or_delete(state, parts);
    }
    let refuse_with = |status: StatusCode, id: Option<Id<'_>>, error: &Error| {
        let principal = Principal::named_in(&parts.extensions);
        let revision = session_requests::revision(endpoint, head, principal);
        reply::error(status, revision, id, error)
    };
    let refuse =
        |id: Option<Id<'_>>, error: &Error| refuse_with(StatusCode::BAD_REQUEST, id, error).into();
    let mut parsed = Parsed::default();
    let incoming = match wire::parse(&read.bytes, endpoint.limits().of_wire(), &mut parsed) {
        Ok(Incoming::One(Err(invalid))) => {
            endpoint.service.note_invalid(&invalid);
            return refuse(invalid.id, &Error::of(ErrorKind::InvalidRequest, invalid.reason));
        }
        Ok(incoming) => incoming,
        Err(malformed) => {
            endpoint.service.note_malformed(&malformed);
            return refuse(None, &Error::of(ErrorKind::Parse, malformed));
        }
    };
    let carrier = Carrier::of_request(parts, address);
    if incoming.asks() && !state.may_keep_connection(&carrier) {
        let error = Error::of(ErrorKind::Failed, no_connection(endpoint));
        let status = StatusCode::SERVICE_UNAVAILABLE;
        return reply::later(refuse_with(status, incoming.id(), &error)).into();
    }
    let accepts = Accepts::by(head, &parts.headers);
    match protocol::route(&incoming, head.version.first.map(HeaderValue::as_bytes)) {
        Route::Modern => stateless::answer(state, incoming, carrier, accepts, false),
        Route::Listen => stateless::answer(state, incoming, carrier, accepts, true),
        Route::Initialize => {
            session_requests::initialize(endpoint, incoming, carrier, head, accepts)
        }
        Route::Session if endpoint.shared.is_some() => {
            shared_requests::post(state, incoming, carrier, head, accepts, &read.bytes)
        }
        Route::Session => session_requests::post(state, incoming, carrier, head, accepts),
    }
}

/// Updates this node's copy of the session from the store, and then handles the request.
fn refresh(
    route: HttpRoute,
    state: Arc<ConnectionState>,
    parts: Arc<Parts>,
    session: SessionId,
    read: RequestBytes,
) -> HttpAnswer {
    HttpAnswer::later(async move {
        let carrier = Carrier::of_request(&parts, state.address_of(&parts));
        match shared_copies::refresh(&state.endpoint, &session, &carrier).await {
            Ok(()) => handle(route, &state, &parts, &Head::of(&parts.headers), &read),
            Err(why) => {
                let (limits, mut parsed) = (state.endpoint.limits(), Parsed::default());
                let incoming = wire::parse(&read.bytes, limits.of_wire(), &mut parsed);
                let id = incoming.ok().and_then(|incoming| incoming.id());
                reply::busy_for(id, why).into()
            }
        }
    })
}

#[cold]
fn no_connection(endpoint: &Endpoint) -> String {
    format!(
        "this client has its share of the {} connections: wait for some of its calls, or end some of its streams",
        endpoint.connections.most()
    )
}

/// Answers a request whose body is not read. If the connection has to be closed after the response, the response announces this, so that
/// the client sends its next request on a new connection.
#[cold]
fn refuse<B: RequestBody>(
    body: &mut BodyReader<B>,
    state: &ConnectionState,
    parts: &Parts,
    response: Box<Response<HttpBody>>,
) -> HttpAnswer {
    if body.leave(&parts.headers, state) {
        return response.into();
    }
    state.activity.leave_body();
    reply::last(response, parts).into()
}

impl<B: RequestBody> RequestFuture<B> {
    fn poll_answer(&mut self, cx: &mut Context<'_>) -> Poll<HttpAnswer> {
        if let Some(waiting) = &mut self.waiting {
            return waiting.as_mut().poll(cx);
        }
        let state = self.active.state();
        let (endpoint, limits) = (&state.endpoint, state.endpoint.limits());
        #[cfg(feature = "auth")]
        if let (Some(protected), false) = (&endpoint.settings.protected, self.gate.is_open()) {
            let head = Head::of(&self.parts.headers);
            if self.gate.is_closed()
                && let Err(answer) =
                    admit(self.route, endpoint, &self.parts, &head, &mut self.origin)
            {
                return Poll::Ready(refuse(&mut self.body, state, &self.parts, answer));
            }
            let let_in = self.gate.poll(cx, self.route, endpoint, protected, &mut self.parts);
            if let Err(refusal) = ready!(let_in) {
                return Poll::Ready(refuse(&mut self.body, state, &self.parts, refusal));
            }
        }
        let head = Head::of(&self.parts.headers);
        if !self.is_admitted {
            self.is_admitted = true;
            let admitted = admit(self.route, endpoint, &self.parts, &head, &mut self.origin);
            let answered =
                admitted.and_then(|()| answer_without_body(self.route, state, &self.parts, &head));
            if let Err(response) = answered {
                return Poll::Ready(refuse(&mut self.body, state, &self.parts, response));
            }
            #[cfg(feature = "auth")]
            let most = token_gate::most_bytes(self.route, limits);
            #[cfg(not(feature = "auth"))]
            let most = limits.message;
            if let Err(unread) = self.body.check(most) {
                let response = unread.reply(endpoint).into();
                return Poll::Ready(refuse(&mut self.body, state, &self.parts, response));
            }
        }
        let read = match self.body.poll(cx, endpoint) {
            Poll::Ready(read) => read,
            Poll::Pending => {
                state.activity.receive(endpoint.connections.now());
                return Poll::Pending;
            }
        };
        if self.body.has_waited() {
            state.activity.has_received();
        }
        Poll::Ready(match read {
            Ok(read) => match shared_copies::to_refresh(endpoint, &head) {
                None => handle(self.route, state, &self.parts, &head, &read),
                Some(id) => refresh(self.route, state.clone(), self.parts.clone(), id, read),
            },
            Err(unread) => {
                refuse(&mut self.body, state, &self.parts, unread.reply(endpoint).into())
            }
        })
    }

    fn poll_response(&mut self, cx: &mut Context<'_>) -> Poll<Response<HttpBody>> {
        let mut answer = ready!(self.poll_answer(cx));
        loop {
            match answer {
                HttpAnswer::Json(status, message) => {
                    // If this is the last reference to the head of the request, the response reuses the memory of its headers. The log of
                    // a refusal still needs them.
                    let parts = Arc::get_mut(&mut self.parts).filter(|_| status.is_success());
                    let headers = parts.map(|parts| std::mem::take(&mut parts.headers));
                    return Poll::Ready(reply::json_in(
                        headers.unwrap_or_default(),
                        status,
                        message,
                    ));
                }
                HttpAnswer::Now(response) => return Poll::Ready(*response),
                HttpAnswer::Later(waiting) => {
                    answer = ready!(self.waiting.insert(waiting).as_mut().poll(cx));
                }
            }
        }
    }
}

impl<B: RequestBody> Future for RequestFuture<B> {
    type Output = Result<Response<HttpBody>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Poll::Ready(mut response) = self.poll_response(cx) else {
            if self.waiting.is_some() && self.connection.is_none() {
                self.connection = self.active.state().keep_connection(&self.parts);
            }
            return Poll::Pending;
        };
        let Self { active, parts, connection, .. } = &mut *self;
        if response.status() >= StatusCode::BAD_REQUEST {
            reply::log_refusal(&response, parts, || active.state().address_of(parts));
        }
        let connection = || connection.take().or_else(|| active.state().keep_connection(parts));
        if !response.body_mut().register(active, connection) {
            response = reply::busy(
                "too many answers are waiting to be read, and there is no room for this one: try again later",
            );
        }
        if active.state().endpoint.is_draining() {
            reply::close(&mut response, parts);
        }
        if let Some(origin) = self.origin.take() {
            allow_page(response.headers_mut(), origin);
        }
        Poll::Ready(Ok(response))
    }
}
