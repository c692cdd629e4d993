use std::{
    convert::Infallible,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use http::{HeaderValue, Method, Response, StatusCode, request::Parts};

#[cfg(feature = "auth")]
use super::gate::{self, Gate};
use super::{
    accept::{Accepts, is_json},
    access::Refused,
    alone,
    body::Body,
    cors,
    desk::Desk,
    endpoint::Endpoint,
    head::Head,
    legacy, pair,
    place::Place,
    pulse::Work,
    read::{Read, Reading, RequestBody},
    reply,
};
use crate::{
    call::context::{Carrier, Principal},
    error::{Error, Kind},
    limits::{Limit, Share},
    protocol::{Route, route},
    wire::{self, Id, Incoming, Parsed},
};

/// Future that answers a request. Most requests are answered as soon as their bodies have come. Only a call that has to wait costs a future
/// of its own.
pub(super) struct Answering<B> {
    work: Work,
    place: Place,
    parts: Arc<Parts>,
    body: Reading<B>,
    has_entered: bool,
    #[cfg(feature = "auth")]
    gate: Gate,
    /// Origin of the page that may see the answer.
    origin: Option<HeaderValue>,
    waiting: Option<Waiting>,
    /// Share of the connections, while the call waits.
    connection: Option<Share>,
}

/// Answer to a message.
pub(super) enum Answer {
    /// A single message, without its newline.
    Json(StatusCode, Vec<u8>),
    Now(Box<Response<Body>>),
    Later(Waiting),
}

type Waiting = Pin<Box<dyn Future<Output = Answer> + Send>>;

impl From<Response<Body>> for Answer {
    fn from(response: Response<Body>) -> Self {
        Self::Now(Box::new(response))
    }
}

impl From<Box<Response<Body>>> for Answer {
    fn from(response: Box<Response<Body>>) -> Self {
        Self::Now(response)
    }
}

impl Answer {
    pub(super) fn later(answer: impl Future<Output = Self> + Send + 'static) -> Self {
        Self::Later(Box::pin(answer))
    }
}

impl<B: RequestBody> Answering<B> {
    pub(super) fn new(work: Work, place: Place, parts: Parts, body: B) -> Self {
        Self {
            work,
            place,
            parts: Arc::new(parts),
            body: Reading::of(body),
            has_entered: false,
            #[cfg(feature = "auth")]
            gate: Gate::default(),
            origin: None,
            waiting: None,
            connection: None,
        }
    }
}

impl Place {
    /// Admits a request to an address that exists, if its host and its origin are allowed.
    ///
    /// # Errors
    /// Returns the response to a request that is refused, or that is answered without its body: a health check, a preflight, the metadata.
    fn admit(
        self,
        endpoint: &Arc<Endpoint>,
        parts: &Parts,
        head: &Head<'_>,
        origin: &mut Option<HeaderValue>,
    ) -> Result<(), Box<Response<Body>>> {
        match self {
            Self::Health => return Err(reply::text(StatusCode::OK, "ok\n").into()),
            Self::Readiness if endpoint.is_stopping() => {
                return Err(reply::text(StatusCode::SERVICE_UNAVAILABLE, "stopping\n").into());
            }
            Self::Readiness => return Err(reply::text(StatusCode::OK, "ready\n").into()),
            Self::Full => {
                return Err(reply::busy("there are too many connections: try again later").into());
            }
            Self::Nowhere => {
                let why =
                    format!("there is nothing here: the endpoint is {}", endpoint.settings.path);
                return Err(reply::refuse(StatusCode::NOT_FOUND, why).into());
            }
            _ => {}
        }
        let limit = endpoint.limits().head;
        if head.size + parts.uri.path().len() + parts.uri.query().map_or(0, str::len) > limit {
            endpoint.service.tally().refuse(Limit::Head);
            let why = format!("the head of the request is longer than {limit} bytes");
            return Err(reply::refuse(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, why).into());
        }
        *origin = endpoint.access.check(head, &parts.uri).map_err(|Refused(why)| {
            tracing::debug!("refused: {why}");
            Box::new(reply::refuse(StatusCode::FORBIDDEN, why))
        })?;
        #[cfg(feature = "auth")]
        if let Self::Beside(false) = self {
            *origin = None;
        }
        if parts.method == Method::OPTIONS {
            return Err(cors::preflight(&parts.headers).into());
        }
        #[cfg(feature = "auth")]
        if let (Self::Metadata, Some(protected)) = (self, &endpoint.settings.protected) {
            let is_asked = parts.method == Method::GET;
            let document = || gate::metadata(endpoint, protected, parts);
            return Err(if is_asked { document() } else { reply::not_allowed("GET") }.into());
        }
        Ok(())
    }

    /// Admits a request whose body has to be read.
    ///
    /// # Errors
    /// Returns the response to any other request.
    fn enter(
        self,
        desk: &Desk,
        parts: &Arc<Parts>,
        head: &Head<'_>,
    ) -> Result<(), Box<Response<Body>>> {
        let endpoint = &desk.endpoint;
        match (self, &parts.method) {
            (Self::Endpoint, &Method::POST) => {
                let accepts = Accepts::said(head, &parts.headers);
                if !accepts.json && !accepts.events {
                    let why = "`Accept` must name `application/json` and `text/event-stream`";
                    return Err(reply::refuse(StatusCode::NOT_ACCEPTABLE, why).into());
                }
                if !is_json(head) {
                    return Err(reply::unsupported(head.content_type.first).into());
                }
            }
            (Self::Endpoint | Self::PairStream, &Method::GET)
                if !desk
                    .may_keep_connection(&Carrier::of_request(parts, desk.address_of(parts))) =>
            {
                return Err(reply::busy(no_connection(endpoint)).into());
            }
            (Self::Endpoint, &Method::GET) => return Err(legacy::get(endpoint, head, parts).into()),
            (Self::Endpoint, &Method::DELETE) => {
                let principal = Principal::named_in(&parts.extensions);
                return Err(legacy::delete(endpoint, head, principal).into());
            }
            (Self::Endpoint, _) => return Err(reply::not_allowed("GET, POST, DELETE").into()),
            #[cfg(feature = "auth")]
            (Self::Beside(_), &(Method::GET | Method::POST)) => {}
            #[cfg(feature = "auth")]
            (Self::Beside(_), _) => return Err(reply::not_allowed("GET, POST").into()),
            (Self::PairStream, &Method::GET) => {
                return Err(pair::open(desk, head, parts).into());
            }
            (Self::PairStream, _) => return Err(reply::not_allowed("GET").into()),
            (_, &Method::POST) => pair::check(endpoint, head, parts)?,
            (..) => return Err(reply::not_allowed("POST").into()),
        }
        Ok(())
    }

    /// Parses a message, and hands it to the era that it belongs to.
    fn take(self, desk: &Desk, parts: &Arc<Parts>, head: &Head<'_>, read: &Read) -> Answer {
        let (endpoint, address) = (&desk.endpoint, desk.address_of(parts));
        if matches!(self, Self::PairPost) {
            return pair::post(endpoint, Carrier::of_request(parts, address), parts, read).into();
        }
        #[cfg(feature = "auth")]
        if let Self::Beside(_) = self {
            return gate::beside(endpoint, parts, read, address);
        }
        let refuse_with = |status: StatusCode, id: Option<Id<'_>>, error: &Error| {
            let principal = Principal::named_in(&parts.extensions);
            let revision = legacy::revision(endpoint, head, principal);
            reply::error(status, revision, id, error)
        };
        let refuse = |id: Option<Id<'_>>, error: &Error| {
            refuse_with(StatusCode::BAD_REQUEST, id, error).into()
        };
        let mut parsed = Parsed::default();
        let incoming = match wire::parse(&read.bytes, endpoint.limits().of_wire(), &mut parsed) {
            Ok(Incoming::One(Err(invalid))) => {
                endpoint.service.note_invalid(&invalid);
                return refuse(invalid.id, &Error::of(Kind::InvalidRequest, invalid.reason));
            }
            Ok(incoming) => incoming,
            Err(malformed) => {
                endpoint.service.note_malformed(&malformed);
                return refuse(None, &Error::of(Kind::Parse, malformed));
            }
        };
        let carrier = Carrier::of_request(parts, address);
        if incoming.asks() && !desk.may_keep_connection(&carrier) {
            let error = Error::of(Kind::Failed, no_connection(endpoint));
            let status = StatusCode::SERVICE_UNAVAILABLE;
            return reply::later(refuse_with(status, incoming.id(), &error)).into();
        }
        let accepts = Accepts::said(head, &parts.headers);
        match route(&incoming, head.version.first.map(HeaderValue::as_bytes)) {
            Route::Modern => alone::answer(desk, incoming, carrier, accepts, false),
            Route::Listen => alone::answer(desk, incoming, carrier, accepts, true),
            Route::Initialize => {
                legacy::initialize(endpoint, incoming, carrier, head, accepts).into()
            }
            Route::Session => legacy::post(desk, incoming, carrier, head, accepts),
        }
    }
}

#[cold]
fn no_connection(endpoint: &Endpoint) -> String {
    format!(
        "this client has its share of the {} connections: wait for some of its calls, or end some of its streams",
        endpoint.open.most()
    )
}

/// Answers a request whose body is not read. If the connection ends with the answer, the response says so. Otherwise a client that is still
/// sending would only see its next request fail.
#[cold]
fn refuse<B: RequestBody>(
    body: &mut Reading<B>,
    desk: &Desk,
    parts: &Parts,
    response: Box<Response<Body>>,
) -> Answer {
    if body.leave(&parts.headers) {
        return response.into();
    }
    desk.pulse.leave_body();
    reply::last(response, parts).into()
}

impl<B: RequestBody> Answering<B> {
    fn poll_answer(&mut self, cx: &mut Context<'_>) -> Poll<Answer> {
        if let Some(waiting) = &mut self.waiting {
            return waiting.as_mut().poll(cx);
        }
        let desk = &**self.work.desk();
        let (endpoint, limits) = (&desk.endpoint, desk.endpoint.limits());
        #[cfg(feature = "auth")]
        if let (Some(protected), false) = (&endpoint.settings.protected, self.gate.is_open()) {
            let head = Head::of(&self.parts.headers);
            if self.gate.is_closed()
                && let Err(answer) =
                    self.place.admit(endpoint, &self.parts, &head, &mut self.origin)
            {
                return Poll::Ready(refuse(&mut self.body, desk, &self.parts, answer));
            }
            let let_in = self.gate.poll(cx, self.place, endpoint, protected, &mut self.parts);
            if let Err(refusal) = ready!(let_in) {
                return Poll::Ready(refuse(&mut self.body, desk, &self.parts, refusal));
            }
        }
        let head = Head::of(&self.parts.headers);
        if !self.has_entered {
            self.has_entered = true;
            let admitted = self.place.admit(endpoint, &self.parts, &head, &mut self.origin);
            let entered = admitted.and_then(|()| self.place.enter(desk, &self.parts, &head));
            if let Err(response) = entered {
                return Poll::Ready(refuse(&mut self.body, desk, &self.parts, response));
            }
            #[cfg(feature = "auth")]
            let most = gate::most(self.place, limits);
            #[cfg(not(feature = "auth"))]
            let most = limits.message;
            if let Err(unread) = self.body.check(most) {
                let response = unread.reply(endpoint).into();
                return Poll::Ready(refuse(&mut self.body, desk, &self.parts, response));
            }
        }
        let read = match self.body.poll(cx, endpoint) {
            Poll::Ready(read) => read,
            Poll::Pending => {
                desk.pulse.receive(endpoint.open.now());
                return Poll::Pending;
            }
        };
        if self.body.has_waited() {
            desk.pulse.has_received();
        }
        Poll::Ready(match read {
            Ok(read) => self.place.take(desk, &self.parts, &head, &read),
            Err(unread) => refuse(&mut self.body, desk, &self.parts, unread.reply(endpoint).into()),
        })
    }

    fn poll_response(&mut self, cx: &mut Context<'_>) -> Poll<Response<Body>> {
        let mut answer = ready!(self.poll_answer(cx));
        loop {
            match answer {
                Answer::Json(status, message) => {
                    // If nothing else holds the head of the request, the response reuses the memory of its headers.
                    let parts = Arc::get_mut(&mut self.parts);
                    let headers = parts.map(|it| std::mem::take(&mut it.headers));
                    return Poll::Ready(reply::json_in(
                        headers.unwrap_or_default(),
                        status,
                        message,
                    ));
                }
                Answer::Now(response) => return Poll::Ready(*response),
                Answer::Later(waiting) => {
                    answer = ready!(self.waiting.insert(waiting).as_mut().poll(cx));
                }
            }
        }
    }
}

impl<B: RequestBody> Future for Answering<B> {
    type Output = Result<Response<Body>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Poll::Ready(mut response) = self.poll_response(cx) else {
            if self.waiting.is_some() && self.connection.is_none() {
                self.connection = self.work.desk().keep_connection(&self.parts);
            }
            return Poll::Pending;
        };
        let Self { work, parts, connection, .. } = &mut *self;
        let connection = || connection.take().or_else(|| work.desk().keep_connection(parts));
        if !response.body_mut().keep_at(work, connection) {
            response = reply::busy(
                "too many answers wait to be read, and there is no room for this one: try again later",
            );
        }
        if let Some(origin) = self.origin.take() {
            cors::allow(&mut response, origin);
        }
        Poll::Ready(Ok(response))
    }
}
