//! Functions that create responses, and the type of an answer, which may not be ready yet.

use std::{future::Future, pin::Pin};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Response, StatusCode, Version, header, request::Parts};
use mcp_runtime_wire::{Id, ObjectWriter};

use super::body::HttpBody;
use crate::{
    error::{Error, ErrorKind, shown},
    limits::LARGE,
    protocol::{Revision, unread},
};

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

/// Returns an error response without an id, for a request that is refused before its message is parsed.
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

/// Refuses a body that is not JSON.
pub(super) fn unsupported(given: Option<&HeaderValue>) -> Response<HttpBody> {
    let given = given.and_then(|value| value.to_str().ok()).unwrap_or("nothing");
    refuse(
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        format_args!("`Content-Type` must be `application/json`, but it is `{}`", shown(given)),
    )
}

/// Refuses a request because a limit is currently reached, and asks the client to retry.
pub(super) fn busy(why: impl std::fmt::Display) -> Response<HttpBody> {
    later(error(StatusCode::SERVICE_UNAVAILABLE, None, None, &Error::of(ErrorKind::Failed, why)))
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
    if parts.version < Version::HTTP_2 {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// Refuses a method that the address does not support.
pub(super) fn not_allowed(allowed: &'static str) -> Response<HttpBody> {
    let mut response =
        refuse(StatusCode::METHOD_NOT_ALLOWED, format_args!("this address accepts only {allowed}"));
    response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(allowed));
    response
}

/// Answer to a message.
pub(super) enum HttpAnswer {
    /// A single message, without its newline.
    Json(StatusCode, Vec<u8>),
    Now(Box<Response<HttpBody>>),
    Later(PendingAnswer),
}

/// Future of an answer that is not ready yet.
pub(super) type PendingAnswer = Pin<Box<dyn Future<Output = HttpAnswer> + Send>>;

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
