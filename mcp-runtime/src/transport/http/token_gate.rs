//! Token check of a protected resource. It runs before the body of a request is read.

use std::{
    sync::Arc,
    task::{Context, Poll, ready},
    time::SystemTime,
};

use http::{HeaderValue, Response, StatusCode, header, request::Parts};

use super::{
    access::is_on_loopback,
    body::HttpBody,
    endpoint::Endpoint,
    reply,
    route::{HttpRoute, SSE_STREAM, is_sse_metadata},
};
#[cfg(feature = "auth")]
use super::{reply::HttpAnswer, request_body::RequestBytes};
use crate::{
    authorization::{AuthRefusal, Denied, ProtectedResource, Verifying},
    call::context::{Authorization, Carrier},
    unwind::{self, Panicked},
};

/// State of the token check of one request.
#[derive(Default)]
pub(super) enum TokenGate {
    #[default]
    Closed,
    Verifying(Verifying),
    Open,
}

impl TokenGate {
    pub(super) fn is_open(&self) -> bool {
        matches!(self, Self::Open)
    }

    pub(super) fn is_closed(&self) -> bool {
        matches!(self, Self::Closed)
    }

    /// Polls the token check until the request is admitted or refused. The caller holds the only reference to `parts`, so `make_mut` copies
    /// nothing.
    ///
    /// # Errors
    /// Returns the response that refuses the request.
    pub(super) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        route: HttpRoute,
        endpoint: &Endpoint,
        protected: &ProtectedResource,
        parts: &mut Arc<Parts>,
    ) -> Poll<Result<(), Box<Response<HttpBody>>>> {
        // The pages of the authorization server need no token, because a client that requests a token has none yet.
        #[cfg(feature = "auth")]
        if let HttpRoute::AuthPage(_) = route {
            *self = Self::Open;
        }
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
                    // The verifier is the author's code, and may panic. Catches the panic, so that it does not end the connection. A future
                    // that has panicked cannot be polled again, so it is dropped below.
                    let verified = match unwind::catch(|| verifying.as_mut().poll(cx)) {
                        Ok(polled) => ready!(polled),
                        Err(Panicked) => {
                            tracing::error!("the token verifier panicked");
                            Err(Denied::unavailable("the token cannot be verified now"))
                        }
                    };
                    unwind::discard(std::mem::replace(self, Self::Open));
                    break protected.finish(verified, parts);
                }
            }
        };
        Poll::Ready(
            let_in.map_err(|why| Box::new(refused(&why, route, endpoint, protected, parts))),
        )
    }
}

fn refused(
    refusal: &AuthRefusal,
    route: HttpRoute,
    endpoint: &Endpoint,
    protected: &ProtectedResource,
    parts: &Parts,
) -> Response<HttpBody> {
    let why = refusal.why();
    if refusal.status() == StatusCode::SERVICE_UNAVAILABLE {
        return reply::busy(why);
    }
    let response = reply::refuse(refusal.status(), why);
    let resource = || match route {
        HttpRoute::SseStream | HttpRoute::SsePost => sse_url(endpoint, protected, parts),
        _ => None,
    };
    let url = || resource().unwrap_or_else(|| endpoint_url(endpoint, parts));
    challenging(response, protected.challenge(refusal, url))
}

fn challenging(mut response: Response<HttpBody>, challenge: Option<String>) -> Response<HttpBody> {
    if let Some(value) = challenge.and_then(|text| HeaderValue::try_from(text).ok()) {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, value);
    }
    response
}

/// Returns a refusal if the authorization with which an application admitted the request has expired.
pub(super) fn has_ended(parts: &Parts) -> Option<Response<HttpBody>> {
    let expiry = parts.extensions.get::<Authorization>()?.expiry()?;
    if expiry > SystemTime::now() {
        return None;
    }
    let refusal = AuthRefusal::Invalid("the authorization of the caller has expired".into());
    let why = refusal.why();
    tracing::debug!("refused: {why}");
    Some(challenging(reply::refuse(refusal.status(), why), refusal.challenge(None, "")))
}

/// Returns the response to a message whose sender lacks a permission. The body is `message`, the JSON-RPC error that the peer has written.
/// The challenge names the missing permission.
pub(super) fn not_allowed(
    refusal: &AuthRefusal,
    endpoint: &Endpoint,
    carrier: &Carrier,
    message: Vec<u8>,
) -> Response<HttpBody> {
    let challenge = match (&endpoint.settings.protected, &carrier.http) {
        (Some(protected), Some(parts)) => {
            protected.challenge(refusal, || endpoint_url(endpoint, parts))
        }
        // The application authenticates its callers, so only the application can tell them how to sign in.
        _ => refusal.challenge(None, ""),
    };
    challenging(reply::json(refusal.status(), message), challenge)
}

/// Returns the metadata document, which tells clients where to get a token.
pub(super) fn metadata(
    endpoint: &Endpoint,
    protected: &ProtectedResource,
    parts: &Parts,
) -> Response<HttpBody> {
    let is_sse = is_sse_metadata(&endpoint.settings, protected, parts.uri.path());
    let resource = || is_sse.then(|| sse_url(endpoint, protected, parts)).flatten();
    match protected.metadata(|| resource().unwrap_or_else(|| endpoint_url(endpoint, parts))) {
        Some(document) => reply::json(StatusCode::OK, document),
        None => reply::refuse(StatusCode::NOT_FOUND, "no authorization server is configured"),
    }
}

/// Returns the URL of the endpoint at the host that a request names. The host has already been checked. The scheme is `https` except for
/// loopback hosts, because the server relies on a proxy for TLS.
fn endpoint_url(endpoint: &Endpoint, parts: &Parts) -> String {
    url_at(&endpoint.settings.path, parts)
}

/// Returns the URL of the HTTP+SSE transport, if the server offers this transport and clients may use this URL as the resource of their
/// tokens. Clients compare this URL with the URL that they were configured with.
fn sse_url(endpoint: &Endpoint, protected: &ProtectedResource, parts: &Parts) -> Option<String> {
    let settings = &endpoint.settings;
    let is_resource = settings.legacy_sse && protected.is_pair_resource();
    is_resource.then(|| url_at(&settings.sibling(SSE_STREAM), parts))
}

/// Returns the URL of a path at the host that a request names.
fn url_at(path: &str, parts: &Parts) -> String {
    let header = parts.headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let named = parts.uri.authority().map(http::uri::Authority::as_str);
    let host = header.or(named).unwrap_or("localhost");
    let scheme = if is_on_loopback(host) { "http" } else { "https" };
    format!("{scheme}://{host}{}", if path == "/" { "" } else { path })
}

/// Maximum size of a body for the authorization server, in bytes. The bodies are forms and client metadata.
#[cfg(feature = "auth")]
const MOST_BYTES: usize = 64 << 10;

/// Returns the maximum size of a body, in bytes.
#[cfg(feature = "auth")]
pub(super) fn most_bytes(route: HttpRoute, limits: &crate::limits::Limits) -> usize {
    match route {
        HttpRoute::AuthPage(_) => MOST_BYTES.min(limits.message),
        _ => limits.message,
    }
}

/// Passes a request to the authorization server, and returns its response.
#[cfg(feature = "auth")]
pub(super) fn auth_page(
    endpoint: &Endpoint,
    parts: &Arc<Parts>,
    read: &RequestBytes,
    address: Option<std::net::IpAddr>,
) -> HttpAnswer {
    let protected = endpoint.settings.protected.as_ref();
    let Some((protected, pages)) =
        protected.and_then(|protected| Some((protected, protected.pages()?)))
    else {
        return reply::refuse(StatusCode::NOT_FOUND, "there is nothing here").into();
    };
    let sse = sse_url(endpoint, protected, parts);
    let visit = protected.page_request(
        endpoint_url(endpoint, parts),
        sse,
        parts,
        read.bytes.clone(),
        address,
    );
    let answer = pages.clone().answer(visit);
    HttpAnswer::later(async move { answer.await.map(|page| HttpBody::whole(page.into())).into() })
}
