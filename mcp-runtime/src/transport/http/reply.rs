//! Functions that create responses, and the type of an answer, which may not be ready yet.

use std::{borrow::Cow, future::Future, net::IpAddr};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Response, StatusCode, Version, header, request::Parts};
use mcp_runtime_wire::{self as wire, Id, JsonKind, ObjectWriter, Raw};

use super::body::HttpBody;
use crate::{
    error::{Error, ErrorKind, shown},
    limits::LARGE,
    protocol::ResponseRefusal,
    protocol::{Revision, unread},
};

use futures_core::future::BoxFuture;

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");
const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");

pub(super) fn empty(status: StatusCode) -> Response<HttpBody> {
    let mut response = Response::new(HttpBody::empty());
    *response.status_mut() = status;
    response
}

/// Returns a response with one message. `message` has no newline at its end.
pub(super) fn json(status: StatusCode, message: Vec<u8>) -> Response<HttpBody> {
    json_in(HeaderMap::new(), status, message)
}

/// Returns a response with one message. Its header map reuses the allocation of `headers`.
pub(super) fn json_in(
    mut headers: HeaderMap,
    status: StatusCode,
    mut message: Vec<u8>,
) -> Response<HttpBody> {
    if message.len() > LARGE {
        // A large response counts against a limit with its length only, so the unused capacity, which would not be counted, is released.
        message.shrink_to_fit();
    }
    headers.clear();
    headers.insert(header::CONTENT_TYPE, JSON);
    let mut response = Response::new(HttpBody::whole(Bytes::from(message)));
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}

pub(super) fn text(status: StatusCode, text: &'static str) -> Response<HttpBody> {
    let mut response = Response::new(HttpBody::whole(Bytes::from_static(text.as_bytes())));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, TEXT);
    response
}

/// Returns a response with a stream of events, which proxies must not buffer (rule HM-06).
pub(super) fn events(body: HttpBody) -> Response<HttpBody> {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, EVENTS);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// Returns an error response without an id. Most requests that get one are refused before their messages are parsed.
pub(super) fn refuse(status: StatusCode, why: impl std::fmt::Display) -> Response<HttpBody> {
    error(status, None, None, &Error::of(ErrorKind::InvalidRequest, why))
}

/// Returns an error response to a message. `id` is `None` if the id could not be read.
pub(super) fn error(
    status: StatusCode,
    revision: Option<Revision>,
    id: Option<Id<'_>>,
    error: &Error,
) -> Response<HttpBody> {
    json(status, unread(revision, id, error))
}

/// Answers a request whose session has ended or never existed.
///
/// The status tells the client to begin a new session. The body is deliberately not a JSON-RPC message. Some clients (Python SDK 2.x, the
/// clients built on it, and AI SDK 2.x) would accept such a message as the answer in spite of the error status. They would then continue to
/// use the ended session. Other clients check for the code -32001, which the server of the TypeScript SDK sends for such a session.
pub(super) fn no_session(hint: &str) -> Response<HttpBody> {
    let mut body = Vec::new();
    let mut object = ObjectWriter::begin(&mut body);
    object.raw("code", "-32001").str("message", &format!("Session not found: {hint}"));
    object.end();
    json(StatusCode::NOT_FOUND, body)
}

/// Refuses a body that the server cannot read.
pub(super) fn unsupported(why: String) -> Box<Response<HttpBody>> {
    Box::new(refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, why))
}

/// Refuses a request that the server cannot answer now, for example because a limit is reached, and asks the client to retry.
pub(super) fn busy(why: impl std::fmt::Display) -> Response<HttpBody> {
    busy_for(None, why)
}

/// Like [`busy`], for a message whose id is known. Some clients cannot read an error response to a request without the id.
pub(super) fn busy_for(id: Option<Id<'_>>, why: impl std::fmt::Display) -> Response<HttpBody> {
    later(error(StatusCode::SERVICE_UNAVAILABLE, None, id, &Error::of(ErrorKind::Failed, why)))
}

/// Reads the id of a request, which was written as JSON text.
pub(super) fn id_of(text: Option<&str>) -> Option<Id<'_>> {
    text.and_then(|text| Id::parse(Raw::trusted(text)))
}

/// Returns a response of one message. A missing client capability requires the status 400 (rule META-04).
#[inline]
pub(super) fn message(
    status: StatusCode,
    refusal: Option<ResponseRefusal>,
    message: Vec<u8>,
) -> HttpAnswer {
    match refusal {
        None => HttpAnswer::Json(status, message),
        Some(ResponseRefusal::MissingCapability) => {
            HttpAnswer::Json(StatusCode::BAD_REQUEST, message)
        }
        Some(ResponseRefusal::Unavailable) => {
            later(json(StatusCode::SERVICE_UNAVAILABLE, message)).into()
        }
    }
}

/// Adds the header `Retry-After`.
pub(super) fn later(mut response: Response<HttpBody>) -> Response<HttpBody> {
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
    response
}

/// Adds `Connection: close`, except in HTTP/2, which does not have this header: there the server can end a request without closing the
/// connection.
pub(super) fn last(
    mut response: Box<Response<HttpBody>>,
    parts: &Parts,
) -> Box<Response<HttpBody>> {
    close(&mut response, parts);
    response
}

/// Like [`last`], for a response that is not boxed.
#[cold]
pub(super) fn close(response: &mut Response<HttpBody>, parts: &Parts) {
    if parts.version < Version::HTTP_2 {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
}

/// Refuses a method that the address does not support.
pub(super) fn not_allowed(allowed: &'static str) -> Response<HttpBody> {
    let mut response =
        refuse(StatusCode::METHOD_NOT_ALLOWED, format_args!("this address accepts only {allowed}"));
    response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(allowed));
    response
}

/// Logs a refused request, with the reason that the response gives. The query of the URL is left out, because clients may put secrets there.
#[cold]
pub(super) fn log_refusal(
    response: &Response<HttpBody>,
    parts: &Parts,
    client: impl FnOnce() -> Option<IpAddr>,
) {
    tracing::debug!(
        status = response.status().as_u16(),
        method = parts.method.as_str(),
        path = shown(parts.uri.path()),
        client = client().map(tracing::field::display),
        "refused: {}",
        reason(response.body().message())
    );
}

/// Returns the message of a JSON-RPC error, or of an error in the form of OAuth or of [`no_session`]. Returns an empty text for any other
/// body. A message may quote the client, so its control characters become spaces, and it stays on one line of the log.
fn reason(body: &[u8]) -> Cow<'_, str> {
    let Ok(body) = wire::validate(body, MOST_NESTED) else { return Cow::default() };
    let object = body.get("error").filter(|error| error.kind() == JsonKind::Object).unwrap_or(body);
    let text = object.get("message").or_else(|| object.get("error_description"));
    let text = text.and_then(Raw::string).unwrap_or_default();
    if text.contains(char::is_control) { text.replace(char::is_control, " ").into() } else { text }
}

/// Maximum nesting of an error message, including its `data`.
const MOST_NESTED: usize = 128;

/// Answer to a message.
pub(super) enum HttpAnswer {
    /// A single message, without its newline.
    Json(StatusCode, Vec<u8>),
    Now(Box<Response<HttpBody>>),
    Later(PendingAnswer),
}

/// Future of an answer that is not ready yet.
pub(super) type PendingAnswer = BoxFuture<'static, HttpAnswer>;

impl From<Response<HttpBody>> for HttpAnswer {
    fn from(response: Response<HttpBody>) -> Self {
        Self::Now(Box::new(response))
    }
}

impl From<Box<Response<HttpBody>>> for HttpAnswer {
    fn from(response: Box<Response<HttpBody>>) -> Self {
        Self::Now(response)
    }
}

impl HttpAnswer {
    pub(super) fn later(answer: impl Future<Output = Self> + Send + 'static) -> Self {
        Self::Later(Box::pin(answer))
    }
}

#[cfg(test)]
mod tests {
    use super::reason;

    #[test]
    fn the_reason_is_the_message_of_the_error() {
        for (body, expected) in [
            (r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"a `b`"}}"#, "a `b`"),
            (r#"{"code":-32001,"message":"Session not found"}"#, "Session not found"),
            (r#"{"error":"invalid_grant","error_description":"used"}"#, "used"),
            (r#"{"error":{"message":"two\nlines\u001b[0m"}}"#, "two lines [0m"),
            (r#"{"error":{"message":1}}"#, ""),
            ("stopping", ""),
            ("", ""),
        ] {
            assert_eq!(reason(body.as_bytes()), expected, "{body}");
        }
    }
}
