//! HTTP responses for clients and for browsers.

use http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use serde::Serialize;

use crate::oauth_error::OAuthError;

/// Response of this server.
pub(crate) type Reply = Response<Vec<u8>>;

const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");

/// Builds a response with a JSON document.
pub(crate) fn json(status: StatusCode, document: &impl Serialize) -> Reply {
    let mut reply = Response::new(serde_json::to_vec(document).unwrap_or_default());
    *reply.status_mut() = status;
    let headers = reply.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::CACHE_CONTROL, NO_STORE);
    reply
}

/// Builds a response without a body.
pub(crate) fn empty(status: StatusCode) -> Reply {
    let mut reply = Response::new(Vec::new());
    *reply.status_mut() = status;
    reply.headers_mut().insert(header::CACHE_CONTROL, NO_STORE);
    reply
}

/// Builds an error response in JSON (RFC 6749, section 5.2).
pub(crate) fn refused(refusal: &OAuthError, request: &HeaderMap) -> Reply {
    #[derive(Serialize)]
    struct Document<'a> {
        error: &'a str,
        error_description: &'a str,
    }
    let OAuthError { error, why, status } = refusal;
    let mut reply = json(*status, &Document { error, error_description: why });
    let headers = reply.headers_mut();
    if *status == StatusCode::UNAUTHORIZED && request.contains_key(header::AUTHORIZATION) {
        headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Basic realm=\"mcp\""));
    }
    advise_retry(&mut reply);
    reply
}

/// Tells the client of a temporary refusal when to try again.
pub(crate) fn advise_retry(reply: &mut Reply) {
    let seconds = match reply.status() {
        StatusCode::TOO_MANY_REQUESTS => "30",
        StatusCode::SERVICE_UNAVAILABLE => "1",
        _ => return,
    };
    reply.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static(seconds));
}

/// Builds the response to a request whose method is not `allowed`.
pub(crate) fn not_allowed(allowed: &'static str) -> Reply {
    let mut reply = empty(StatusCode::METHOD_NOT_ALLOWED);
    reply.headers_mut().insert(header::ALLOW, HeaderValue::from_static(allowed));
    reply
}

/// Redirects the browser with status 303, so that it sends a GET without the form (RFC 9700, section 4.12).
pub(crate) fn redirect(url: &str) -> Reply {
    let mut reply = empty(StatusCode::SEE_OTHER);
    let headers = reply.headers_mut();
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    if let Ok(url) = HeaderValue::try_from(url) {
        headers.insert(header::LOCATION, url);
    }
    reply
}
