//! The way through the resource's guard, before anything else is known of a request.

use std::{
    sync::Arc,
    task::{Context, Poll, ready},
};

use http::{HeaderValue, Response, StatusCode, header, request::Parts};

use super::{access, body::Body, endpoint::Endpoint, reply};
use crate::{
    auth::{ProtectedResource, Refusal, Verifying},
    context::Carrier,
};

/// How far a request has come.
#[derive(Default)]
pub(super) enum Gate {
    #[default]
    Closed,
    Verifying(Verifying),
    Open,
}

impl Gate {
    pub(super) fn is_open(&self) -> bool {
        matches!(self, Self::Open)
    }

    pub(super) fn is_closed(&self) -> bool {
        matches!(self, Self::Closed)
    }

    /// Goes on until the request is let in. Nobody has its head yet but the one who asks.
    ///
    /// # Errors
    /// The answer to one that is not.
    pub(super) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        endpoint: &Endpoint,
        protected: &ProtectedResource,
        parts: &mut Arc<Parts>,
    ) -> Poll<Result<(), Box<Response<Body>>>> {
        let parts = Arc::make_mut(parts);
        let let_in = loop {
            match self {
                Self::Open => break Ok(()),
                Self::Closed => match protected.begin(parts) {
                    Ok(None) => *self = Self::Open,
                    Ok(Some(verifying)) => *self = Self::Verifying(verifying),
                    Err(refusal) => break Err(refusal),
                },
                Self::Verifying(verifying) => {
                    let verified = ready!(verifying.as_mut().poll(cx));
                    *self = Self::Open;
                    break protected.finish(verified, parts);
                }
            }
        };
        Poll::Ready(let_in.map_err(|it| Box::new(refused(&it, endpoint, protected, parts))))
    }
}

fn refused(
    refusal: &Refusal,
    endpoint: &Endpoint,
    protected: &ProtectedResource,
    parts: &Parts,
) -> Response<Body> {
    let why = refusal.why();
    tracing::debug!("refused: {why}");
    if refusal.status() == StatusCode::SERVICE_UNAVAILABLE {
        return reply::busy(why);
    }
    let response = reply::refuse(refusal.status(), why);
    challenging(response, protected.challenge(refusal, || derived(endpoint, parts)))
}

fn challenging(mut response: Response<Body>, challenge: Option<String>) -> Response<Body> {
    if let Some(value) = challenge.and_then(|it| HeaderValue::try_from(it).ok()) {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, value);
    }
    response
}

/// The answer to a message of somebody who may not send it: what its peer has said of that, and how to come by the right to.
pub(super) fn not_allowed(
    refusal: &Refusal,
    endpoint: &Endpoint,
    carrier: &Carrier,
    message: Vec<u8>,
) -> Response<Body> {
    let challenge = match (&endpoint.settings.protected, &carrier.http) {
        (Some(protected), Some(parts)) => protected.challenge(refusal, || derived(endpoint, parts)),
        // The application knows its callers, and has its own words for how they sign in.
        _ => refusal.challenge(None, ""),
    };
    challenging(reply::json(refusal.status(), message), challenge)
}

/// The document that says where to get a token.
pub(super) fn metadata(
    endpoint: &Endpoint,
    protected: &ProtectedResource,
    parts: &Parts,
) -> Response<Body> {
    match protected.metadata(|| derived(endpoint, parts)) {
        Some(document) => reply::json(StatusCode::OK, document),
        None => reply::refuse(StatusCode::NOT_FOUND, "nobody is named who gives tokens out"),
    }
}

/// The URL of the endpoint as far as a request shows it: its host is one that we answer to. What is reached from elsewhere has
/// TLS before it.
fn derived(endpoint: &Endpoint, parts: &Parts) -> String {
    let said = parts.headers.get(header::HOST).and_then(|it| it.to_str().ok());
    let named = parts.uri.authority().map(http::uri::Authority::as_str);
    let host = said.or(named).unwrap_or("localhost");
    let scheme = if access::is_on_loopback(host) { "http" } else { "https" };
    let path = &endpoint.settings.path;
    format!("{scheme}://{host}{}", if path == "/" { "" } else { path })
}
