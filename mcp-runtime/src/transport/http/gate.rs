//! The way through the resource's guard, before anything else is known of a request.

use std::{
    sync::Arc,
    task::{Context, Poll, ready},
    time::SystemTime,
};

use http::{HeaderValue, Response, StatusCode, header, request::Parts};

use super::{access, body::Body, endpoint::Endpoint, pair, place::Place, reply};
#[cfg(feature = "auth-server")]
use super::{answering::Answer, read::Read};
use crate::{
    auth::{Denied, ProtectedResource, Refusal, Verifying, WELL_KNOWN},
    context::{Authorization, Carrier},
    unwind::{self, Panicked},
};

/// The addresses that a protected resource has beside its endpoint.
pub(super) fn place(endpoint: &Endpoint, path: &str) -> Option<Place> {
    let settings = &endpoint.settings;
    let protected = settings.protected.as_ref()?;
    if protected.is_metadata(path, &settings.path) || is_of_pair(endpoint, protected, path) {
        return Some(Place::Metadata);
    }
    #[cfg(feature = "auth-server")]
    if let Some(pages) = protected.pages().filter(|it| it.is_here(path)) {
        return Some(Place::Beside(pages.is_for_scripts(path)));
    }
    None
}

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
        place: Place,
        endpoint: &Endpoint,
        protected: &ProtectedResource,
        parts: &mut Arc<Parts>,
    ) -> Poll<Result<(), Box<Response<Body>>>> {
        // Whoever asks for a token has none.
        #[cfg(feature = "auth-server")]
        if let Place::Beside(_) = place {
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
                    // The author's own code, which must not take the connection along. It is not polled again.
                    let verified = match unwind::catch(|| verifying.as_mut().poll(cx)) {
                        Ok(polled) => ready!(polled),
                        Err(Panicked) => {
                            tracing::error!("the verifier of tokens panicked");
                            Err(Denied::unavailable("the token cannot be verified now"))
                        }
                    };
                    unwind::discard(std::mem::replace(self, Self::Open));
                    break protected.finish(verified, parts);
                }
            }
        };
        Poll::Ready(let_in.map_err(|it| Box::new(refused(&it, place, endpoint, protected, parts))))
    }
}

fn refused(
    refusal: &Refusal,
    place: Place,
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
    let resource = || match place {
        Place::PairStream | Place::PairPost => of_pair(endpoint, protected, parts),
        _ => None,
    };
    let derived = || resource().unwrap_or_else(|| derived(endpoint, parts));
    challenging(response, protected.challenge(refusal, derived))
}

fn challenging(mut response: Response<Body>, challenge: Option<String>) -> Response<Body> {
    if let Some(value) = challenge.and_then(|it| HeaderValue::try_from(it).ok()) {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, value);
    }
    response
}

/// The answer to a request that an application let in with an authorization that has ended.
pub(super) fn has_ended(parts: &Parts) -> Option<Response<Body>> {
    let expiry = parts.extensions.get::<Authorization>()?.expiry()?;
    if expiry > SystemTime::now() {
        return None;
    }
    let refusal = Refusal::Invalid("the authorization of the caller has ended".into());
    let why = refusal.why();
    tracing::debug!("refused: {why}");
    Some(challenging(reply::refuse(refusal.status(), why), refusal.challenge(None, "")))
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
    let is_of_pair = is_of_pair(endpoint, protected, parts.uri.path());
    let resource = || is_of_pair.then(|| of_pair(endpoint, protected, parts)).flatten();
    match protected.metadata(|| resource().unwrap_or_else(|| derived(endpoint, parts))) {
        Some(document) => reply::json(StatusCode::OK, document),
        None => reply::refuse(StatusCode::NOT_FOUND, "nobody is named who gives tokens out"),
    }
}

/// The URL of the endpoint as far as a request shows it: its host is one that we answer to. What is reached from elsewhere has
/// TLS before it.
fn derived(endpoint: &Endpoint, parts: &Parts) -> String {
    at(&endpoint.settings.path, parts)
}

/// The URL of the HTTP+SSE pair, where it is served and is a name of the resource. Clients compare it with the URL that they were given.
fn of_pair(endpoint: &Endpoint, protected: &ProtectedResource, parts: &Parts) -> Option<String> {
    let settings = &endpoint.settings;
    let is_resource = settings.legacy_sse && protected.is_pair_resource();
    is_resource.then(|| at(&settings.sibling(pair::STREAM), parts))
}

/// Whether this is the address of the document of the pair.
fn is_of_pair(endpoint: &Endpoint, protected: &ProtectedResource, path: &str) -> bool {
    let settings = &endpoint.settings;
    path.strip_prefix(WELL_KNOWN).is_some_and(|rest| {
        settings.legacy_sse
            && protected.is_pair_resource()
            && rest == settings.sibling(pair::STREAM)
    })
}

/// The URL of a path at the host that a request names.
fn at(path: &str, parts: &Parts) -> String {
    let said = parts.headers.get(header::HOST).and_then(|it| it.to_str().ok());
    let named = parts.uri.authority().map(http::uri::Authority::as_str);
    let host = said.or(named).unwrap_or("localhost");
    let scheme = if access::is_on_loopback(host) { "http" } else { "https" };
    format!("{scheme}://{host}{}", if path == "/" { "" } else { path })
}

/// Bytes of a body that the authorization server reads: forms, and what a client says of itself.
#[cfg(feature = "auth-server")]
const MOST: usize = 64 << 10;

/// Bytes that a body may have.
#[cfg(feature = "auth-server")]
pub(super) fn most(place: Place, limits: &crate::limits::Limits) -> usize {
    match place {
        Place::Beside(_) => MOST.min(limits.message),
        _ => limits.message,
    }
}

/// The answer of the authorization server.
#[cfg(feature = "auth-server")]
pub(super) fn beside(
    endpoint: &Endpoint,
    parts: &Arc<Parts>,
    read: &Read,
    address: Option<std::net::IpAddr>,
) -> Answer {
    let protected = endpoint.settings.protected.as_ref();
    let Some((protected, pages)) = protected.and_then(|it| Some((it, it.pages()?))) else {
        return reply::refuse(StatusCode::NOT_FOUND, "there is nothing here").into();
    };
    let pair = of_pair(endpoint, protected, parts);
    let derived = derived(endpoint, parts);
    let visit = protected.visit(derived, pair, parts, read.bytes.clone(), address);
    let answer = pages.clone().answer(visit);
    Answer::later(async move { answer.await.map(|it| Body::whole(it.into())).into() })
}
