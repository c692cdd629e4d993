//! Token check of a protected resource, before anything else is known of a request.

use std::{
    sync::Arc,
    task::{Context, Poll, ready},
    time::SystemTime,
};

use http::{HeaderValue, Response, StatusCode, header, request::Parts};

use super::{access, body::Body, endpoint::Endpoint, pair, place::Place, reply};
use super::{answering::Answer, read::Read};
use crate::{
    auth::{AuthRefusal, Denied, ProtectedResource, Verifying, WELL_KNOWN},
    call::context::{Authorization, Carrier},
    unwind::{self, Panicked},
};

/// Returns the address for a path, if a protected resource has it beside its endpoint.
pub(super) fn place(endpoint: &Endpoint, path: &str) -> Option<Place> {
    let settings = &endpoint.settings;
    let protected = settings.protected.as_ref()?;
    if protected.is_metadata(path, &settings.path) || is_of_pair(endpoint, protected, path) {
        return Some(Place::Metadata);
    }
    if let Some(pages) = protected.pages().filter(|it| it.is_here(path)) {
        return Some(Place::Beside(pages.is_for_scripts(path)));
    }
    None
}

/// Progress of a request in the token check.
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

    /// Checks the token until the request is admitted. The caller holds the only reference to `parts`, so changing them copies nothing.
    ///
    /// # Errors
    /// Returns the response to a request that is refused.
    pub(super) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        place: Place,
        endpoint: &Endpoint,
        protected: &ProtectedResource,
        parts: &mut Arc<Parts>,
    ) -> Poll<Result<(), Box<Response<Body>>>> {
        // A client that asks for a token has none yet.
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
                    // The verifier is the author's code. A panic must not end the connection, and the future is not polled again.
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
    refusal: &AuthRefusal,
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

/// Returns the response to a request that an application admitted with an authorization that has expired since.
pub(super) fn has_ended(parts: &Parts) -> Option<Response<Body>> {
    let expiry = parts.extensions.get::<Authorization>()?.expiry()?;
    if expiry > SystemTime::now() {
        return None;
    }
    let refusal = AuthRefusal::Invalid("the authorization of the caller has ended".into());
    let why = refusal.why();
    tracing::debug!("refused: {why}");
    Some(challenging(reply::refuse(refusal.status(), why), refusal.challenge(None, "")))
}

/// Returns the response to a message that its sender may not send: the peer's error, and a challenge that says how to get the right.
pub(super) fn not_allowed(
    refusal: &AuthRefusal,
    endpoint: &Endpoint,
    carrier: &Carrier,
    message: Vec<u8>,
) -> Response<Body> {
    let challenge = match (&endpoint.settings.protected, &carrier.http) {
        (Some(protected), Some(parts)) => protected.challenge(refusal, || derived(endpoint, parts)),
        // The application authenticates its callers, and has its own way to tell them how to sign in.
        _ => refusal.challenge(None, ""),
    };
    challenging(reply::json(refusal.status(), message), challenge)
}

/// Returns the document that says where to get a token.
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

/// Returns the URL of the endpoint as far as a request shows it. The host is one that this server answers to. For any host but loopback,
/// TLS in front of the server is assumed.
fn derived(endpoint: &Endpoint, parts: &Parts) -> String {
    at(&endpoint.settings.path, parts)
}

/// Returns the URL of the HTTP+SSE pair, if the pair is served and is a name of the resource. Clients compare it with the URL that they
/// were given.
fn of_pair(endpoint: &Endpoint, protected: &ProtectedResource, parts: &Parts) -> Option<String> {
    let settings = &endpoint.settings;
    let is_resource = settings.legacy_sse && protected.is_pair_resource();
    is_resource.then(|| at(&settings.sibling(pair::STREAM), parts))
}

/// Whether this is the path of the metadata document of the pair.
fn is_of_pair(endpoint: &Endpoint, protected: &ProtectedResource, path: &str) -> bool {
    let settings = &endpoint.settings;
    path.strip_prefix(WELL_KNOWN).is_some_and(|rest| {
        settings.legacy_sse
            && protected.is_pair_resource()
            && rest == settings.sibling(pair::STREAM)
    })
}

/// Returns the URL of a path at the host that a request names.
fn at(path: &str, parts: &Parts) -> String {
    let said = parts.headers.get(header::HOST).and_then(|it| it.to_str().ok());
    let named = parts.uri.authority().map(http::uri::Authority::as_str);
    let host = said.or(named).unwrap_or("localhost");
    let scheme = if access::is_on_loopback(host) { "http" } else { "https" };
    format!("{scheme}://{host}{}", if path == "/" { "" } else { path })
}

/// Maximum size of a body for the authorization server, in bytes. The bodies are forms and client metadata.
const MOST: usize = 64 << 10;

/// Returns the maximum size of a body, in bytes.
pub(super) fn most(place: Place, limits: &crate::limits::Limits) -> usize {
    match place {
        Place::Beside(_) => MOST.min(limits.message),
        _ => limits.message,
    }
}

/// Returns the answer of the authorization server.
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
    let request = protected.page_request(derived, pair, parts, read.bytes.clone(), address);
    let answer = pages.clone().answer(request);
    Answer::later(async move { answer.await.map(|it| Body::whole(it.into())).into() })
}
