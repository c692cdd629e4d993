//! Headers that let a browser give an answer to a page (Fetch standard, section 3.2).

use http::{HeaderMap, HeaderValue, Response, StatusCode, header};

use super::{body::Body, reply};

const EXPOSED: HeaderValue =
    HeaderValue::from_static("Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate, Retry-After");
const METHODS: HeaderValue = HeaderValue::from_static("GET, POST, DELETE, OPTIONS");
const ONE_DAY: HeaderValue = HeaderValue::from_static("86400");

/// Lets the page that sent the request read the answer.
pub(super) fn allow(response: &mut Response<Body>, origin: HeaderValue) {
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
    headers.append(header::VARY, HeaderValue::from_static("Origin"));
}

/// Answers the question whether a page may send a request. Every header is allowed, because tools name theirs as they like, and the origin
/// has been admitted.
pub(super) fn preflight(request: &HeaderMap) -> Response<Body> {
    let mut response = reply::empty(StatusCode::NO_CONTENT);
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, METHODS);
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, ONE_DAY);
    if let Some(wanted) = request.get(header::ACCESS_CONTROL_REQUEST_HEADERS) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, wanted.clone());
    }
    const PRIVATE: &str = "access-control-request-private-network";
    if request.contains_key(PRIVATE) {
        headers.insert("access-control-allow-private-network", HeaderValue::from_static("true"));
    }
    response
}
