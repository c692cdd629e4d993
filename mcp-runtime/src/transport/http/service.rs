use std::{
    convert::Infallible,
    fmt,
    future::Future,
    net::IpAddr,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use http::{Method, Request, Response, StatusCode, header, request::Parts};
use http_body::Body as HttpBody;
use tower_service::Service;

use super::{
    accept::{Accepts, is_json},
    access::Refused,
    alone,
    body::Body,
    cors,
    endpoint::Endpoint,
    legacy, pair,
    read::read,
    reply,
};
use crate::{
    builder::Builder,
    context::Carrier,
    error::{Error, Kind, ServeError},
    protocol::{Remembered, Route, VERSION_HEADER, route},
    wire::{self, Id, Incoming},
};

/// A server as a [`tower_service::Service`]: what an application mounts.
///
/// It answers every path it is asked for. Request extensions and headers of the application are there for handlers:
/// take `Extension<T>` or `&HeaderMap` as a parameter.
///
/// A client that leaves cancels what it asked for in 2026-07-28; in a session of an older revision the calls go on, and
/// the client can come back for the answers. A client that closes its half of the connection has left, and one that
/// has sent the next request already is only missed when that one's turn comes.
///
/// See [`Builder::into_service`].
#[derive(Clone)]
pub struct HttpService {
    endpoint: Arc<Endpoint>,
}

impl fmt::Debug for HttpService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpService")
            .field("path", &self.endpoint.settings.path)
            .finish_non_exhaustive()
    }
}

impl Builder {
    /// Starts the server as a service for an application on tokio, which mounts it where it likes. It is
    /// checked for which [hosts](Builder::allow_host) and [origins](Builder::allow_origin) it answers to.
    ///
    /// Call [`HttpService::close`] when the application stops.
    ///
    /// # Errors
    /// When the server cannot be built, or `setup` fails.
    pub async fn into_service(self) -> Result<HttpService, ServeError> {
        HttpService::start(self, None).await
    }
}

impl HttpService {
    pub(super) async fn start(builder: Builder, bound: Option<IpAddr>) -> Result<Self, ServeError> {
        let settings = builder.http.clone();
        let endpoint = Endpoint::new(builder.build()?.start().await?, settings, bound);
        Ok(Self { endpoint })
    }

    pub(super) fn endpoint(&self) -> &Arc<Endpoint> {
        &self.endpoint
    }

    /// Ends the streams that nothing else ends, with a last event where there is one for it; calls go on. To be called
    /// before an application waits for its connections to end.
    pub fn stop(&self) {
        self.endpoint.stop();
    }

    /// Ends everything that still runs in sessions, and runs `on_shutdown`.
    pub async fn close(&self) {
        self.endpoint.close().await;
    }
}

/// Answers a request of an application that has routed it here.
async fn mounted<B: HttpBody>(endpoint: Arc<Endpoint>, request: Request<B>) -> Response<Body> {
    let last = request.uri().path().rsplit('/').next().unwrap_or_default();
    let place = match last {
        pair::STREAM if endpoint.settings.legacy_sse => Place::PairStream,
        pair::POST if endpoint.settings.legacy_sse => Place::PairPost,
        _ => Place::Endpoint,
    };
    let remembered = endpoint.remembered().clone();
    respond(&endpoint, &remembered, place, request).await
}

/// Answers a request to a server of our own.
pub(super) fn alone<B>(
    endpoint: &Arc<Endpoint>,
    remembered: &Arc<Remembered>,
    request: Request<B>,
) -> impl Future<Output = Response<Body>> + Send + use<B>
where
    B: HttpBody + Send,
    B::Data: Send,
    B::Error: Send,
{
    let (endpoint, remembered) = (endpoint.clone(), remembered.clone());
    async move {
        let settings = &endpoint.settings;
        let is_sibling = |path: &str, name| settings.legacy_sse && path == settings.sibling(name);
        let place = match request.uri().path() {
            path if path == settings.path => Place::Endpoint,
            "/healthz" => return reply::text(StatusCode::OK, "ok\n"),
            "/readyz" if endpoint.is_stopping() => {
                return reply::text(StatusCode::SERVICE_UNAVAILABLE, "stopping\n");
            }
            "/readyz" => return reply::text(StatusCode::OK, "ready\n"),
            path if is_sibling(path, pair::STREAM) => Place::PairStream,
            path if is_sibling(path, pair::POST) => Place::PairPost,
            _ => {
                let why = format!("there is nothing here: the endpoint is {}", settings.path);
                return reply::refuse(StatusCode::NOT_FOUND, why);
            }
        };
        respond(&endpoint, &remembered, place, request).await
    }
}

impl<B> Service<Request<B>> for HttpService
where
    B: HttpBody + Send + 'static,
    B::Data: Send,
    B::Error: Send,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let responding = mounted(self.endpoint.clone(), request);
        Box::pin(async move { Ok(responding.await) })
    }
}

/// The addresses a server has.
#[derive(Clone, Copy)]
enum Place {
    Endpoint,
    PairStream,
    PairPost,
}

async fn respond<B: HttpBody>(
    endpoint: &Arc<Endpoint>,
    remembered: &Arc<Remembered>,
    place: Place,
    request: Request<B>,
) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let limit = endpoint.limits().head;
    if head_size(&parts) > limit {
        let why = format!("the head of the request is longer than {limit} bytes");
        return reply::refuse(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, why);
    }
    let origin = match endpoint.access.check(&parts.headers, &parts.uri) {
        Ok(origin) => origin,
        Err(Refused(why)) => {
            tracing::debug!("refused: {why}");
            return reply::refuse(StatusCode::FORBIDDEN, why);
        }
    };
    let mut response = match (place, parts.method.clone()) {
        (_, Method::OPTIONS) => cors::preflight(&parts.headers),
        (Place::Endpoint, Method::POST) => post(endpoint, remembered, parts, body).await,
        (Place::Endpoint, Method::GET) => legacy::get(endpoint, &parts),
        (Place::Endpoint, Method::DELETE) => legacy::delete(endpoint, &parts),
        (Place::Endpoint, _) => reply::not_allowed("GET, POST, DELETE"),
        (Place::PairStream, Method::GET) => pair::open(endpoint, &parts),
        (Place::PairStream, _) => reply::not_allowed("GET"),
        (Place::PairPost, Method::POST) => pair::post(endpoint, parts, body).await,
        (Place::PairPost, _) => reply::not_allowed("POST"),
    };
    if let Some(origin) = origin {
        cors::allow(&mut response, origin);
    }
    response
}

/// About as many bytes as it had on the wire.
fn head_size(parts: &Parts) -> usize {
    let headers = parts.headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 4);
    headers.sum::<usize>() + parts.uri.path().len() + parts.uri.query().map_or(0, str::len)
}

/// Takes one message, and hands it to the era it belongs to.
async fn post<B: HttpBody>(
    endpoint: &Arc<Endpoint>,
    remembered: &Arc<Remembered>,
    parts: Parts,
    body: B,
) -> Response<Body> {
    let limits = endpoint.limits();
    let accepts = Accepts::of(&parts.headers);
    if !accepts.json && !accepts.events {
        let why = "`Accept` must name `application/json` and `text/event-stream`";
        return reply::refuse(StatusCode::NOT_ACCEPTABLE, why);
    }
    if !is_json(&parts.headers) {
        return reply::unsupported(parts.headers.get(header::CONTENT_TYPE));
    }
    let read = match read(body, endpoint).await {
        Ok(read) => read,
        Err(unread) => return unread.reply(limits),
    };
    let refuse = |id: Option<Id<'_>>, error: &Error| {
        let revision = legacy::revision(endpoint, &parts);
        reply::error(StatusCode::BAD_REQUEST, revision, id, error)
    };
    let incoming = match wire::parse(&read.bytes, limits.of_wire()) {
        Ok(Incoming::One(Err(invalid))) => {
            return refuse(invalid.id, &Error::of(Kind::InvalidRequest, invalid.reason));
        }
        Ok(incoming) => incoming,
        Err(malformed) => return refuse(None, &Error::of(Kind::Parse, malformed)),
    };
    let version = parts.headers.get(VERSION_HEADER).map(http::HeaderValue::as_bytes);
    let route = route(&incoming, version);
    let parts = Arc::new(parts);
    let carrier = Carrier { http: Some(parts.clone()) };
    match route {
        Route::Modern | Route::Listen => {
            let listens = route == Route::Listen;
            alone::answer(endpoint, remembered, incoming, carrier, accepts, listens).await
        }
        Route::Initialize => legacy::initialize(endpoint, incoming, carrier, &parts, accepts),
        Route::Session => legacy::post(endpoint, incoming, carrier, &parts, accepts).await,
    }
}
