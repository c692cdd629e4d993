//! Body of a response, which may be a stream of events.

use std::{
    convert::Infallible,
    fmt,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http::Extensions;
use http_body::{Frame, SizeHint};
use tokio::time::{Instant, Sleep, sleep};

#[cfg(feature = "auth")]
use super::expiry::{ExpiryTimer, StreamLifetime};
use super::{
    answer_source::AnswerSource,
    connection_state::{ActiveRequest, HeldAnswer},
    session::{SessionReader, SseStream},
    shared_stream::SharedReader,
    sse,
};
use crate::limits::{LARGE, Share};

/// Body of a response of [`HttpService`](super::HttpService): empty, one message, or a stream of events.
///
/// The type implements `http_body::Body` with `Bytes` as its data and [`Infallible`] as its error. Applications pass the body on, for
/// example in middleware.
///
/// Dropping a stream has the effect of a disconnect, which depends on the protocol revision: see [`HttpService`](super::HttpService).
///
/// ```
/// use http::{HeaderValue, Response};
/// use mcp_runtime::http::HttpBody;
///
/// /// Adds a header to a response of the server.
/// fn tagged(mut response: Response<HttpBody>) -> Response<HttpBody> {
///     response.headers_mut().insert("x-served-by", HeaderValue::from_static("mcp"));
///     response
/// }
/// ```
pub struct HttpBody(BodyContent);

enum BodyContent {
    Whole(Option<Bytes>),
    Large(Box<LargeMessage>),
    Events(Box<EventStream>),
}

/// Maximum number of bytes of a message that are written at once. hyper copies the bytes of each write into the buffer that already
/// contains the head of the response. The connection keeps this buffer, so the maximum also limits the size of the buffer.
const PIECE: usize = 32 << 10;

/// Message of more than [`LARGE`] bytes. All of its bytes stay in memory until the last piece is written.
struct LargeMessage {
    rest: Bytes,
    held: Option<HeldAnswer>,
}

impl HttpBody {
    pub(super) fn empty() -> Self {
        Self(BodyContent::Whole(None))
    }

    pub(super) fn whole(bytes: Bytes) -> Self {
        if bytes.len() > LARGE {
            return Self(BodyContent::Large(Box::new(LargeMessage { rest: bytes, held: None })));
        }
        Self(BodyContent::Whole(Some(bytes).filter(|bytes| !bytes.is_empty())))
    }

    /// Registers a stream or a large message. A small message needs no registration. While a stream is open, its connection counts as working,
    /// so that the deadline for the next request does not apply. A large message counts against the limit on unread responses of all
    /// connections. Returns `false` if the response would exceed this limit.
    pub(super) fn register(
        &mut self,
        request: &ActiveRequest,
        connection: impl FnOnce() -> Option<Share>,
    ) -> bool {
        match &mut self.0 {
            BodyContent::Whole(_) => {}
            BodyContent::Large(large) => {
                large.held = HeldAnswer::take(request.state(), large.rest.len());
                return large.held.is_some();
            }
            BodyContent::Events(events) => events.register(request.clone(), connection()),
        }
        true
    }

    /// Returns the bytes of a small message, before any of them is written. Every other body returns no bytes.
    pub(super) fn message(&self) -> &[u8] {
        match &self.0 {
            BodyContent::Whole(Some(bytes)) => bytes,
            _ => &[],
        }
    }

    pub(super) fn events(events: EventStream) -> Self {
        Self(BodyContent::Events(Box::new(events)))
    }
}

impl http_body::Body for HttpBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let next = match &mut self.0 {
            BodyContent::Whole(Some(bytes)) if bytes.len() > PIECE => {
                Poll::Ready(Some(bytes.split_to(PIECE)))
            }
            BodyContent::Whole(bytes) => Poll::Ready(bytes.take()),
            BodyContent::Large(large) if large.rest.is_empty() => Poll::Ready(None),
            BodyContent::Large(large) => {
                let piece = large.rest.len().min(PIECE);
                Poll::Ready(Some(large.rest.split_to(piece)))
            }
            BodyContent::Events(events) => events.poll_next(cx),
        };
        next.map(|piece| piece.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            BodyContent::Whole(bytes) => bytes.is_none(),
            BodyContent::Large(large) => large.rest.is_empty(),
            BodyContent::Events(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            BodyContent::Whole(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, Bytes::len) as u64)
            }
            BodyContent::Large(large) => SizeHint::with_exact(large.rest.len() as u64),
            BodyContent::Events(_) => SizeHint::default(),
        }
    }
}

impl fmt::Debug for HttpBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            BodyContent::Whole(None) => "Body(empty)",
            BodyContent::Whole(Some(_)) | BodyContent::Large(_) => "Body(message)",
            BodyContent::Events(_) => "Body(events)",
        })
    }
}

/// Stream of events: the events of its feed, and a comment whenever the feed has been silent for a while (rule HM-06).
pub(super) struct EventStream {
    feed: EventFeed,
    /// Bytes that are sent before any event of the feed.
    first: Vec<u8>,
    /// Unsent rest of the events, if they are too large for one write.
    rest: Bytes,
    held: Option<HeldAnswer>,
    silence: Pin<Box<Sleep>>,
    keep_alive: Duration,
    is_over: bool,
    /// Expiry of a stream that stays open for future messages. The stream ends with the token of its client, because the messages are meant
    /// only for a client with a valid token.
    #[cfg(feature = "auth")]
    expiry: Option<(ExpiryTimer, StreamLifetime)>,
    /// Share of the limit on open streams, if the stream counts toward this limit.
    _share: Option<Share>,
    /// Share of the limit on connections, if the server counts its connections.
    _connection: Option<Share>,
    request: Option<ActiveRequest>,
}

/// Source of the events of an [`EventStream`].
pub(super) enum EventFeed {
    /// Messages of a stream that cannot be resumed.
    Plain(AnswerSource),
    /// Messages of a stream that the client can resume.
    Resumable(SessionReader),
    /// Messages of a stream that the client can resume at any node.
    Shared(SharedReader),
    /// All messages for a client of protocol revision 2024-11-05.
    Sse(SseStream),
}

impl EventStream {
    pub(super) fn new(feed: EventFeed, first: Vec<u8>, keep_alive: Duration) -> Self {
        // A proxy may hold the head back until bytes of the body arrive, so the body begins with a comment if there is no event yet.
        let first = if first.is_empty() { sse::KEEP_ALIVE.to_vec() } else { first };
        let silence = Box::pin(sleep(keep_alive));
        Self {
            feed,
            first,
            rest: Bytes::new(),
            held: None,
            silence,
            keep_alive,
            is_over: false,
            #[cfg(feature = "auth")]
            expiry: None,
            _share: None,
            _connection: None,
            request: None,
        }
    }

    /// Ends the stream when the token of the request that opened it becomes invalid. In a session, the stream instead stays open as long as
    /// any token of the session is valid.
    #[cfg(feature = "auth")]
    pub(super) fn expiring(mut self, opened_by: &Extensions) -> Self {
        let lifetime = StreamLifetime::of(opened_by);
        self.expiry = ExpiryTimer::of(&lifetime).map(|timer| (timer, lifetime));
        self
    }

    #[cfg(not(feature = "auth"))]
    pub(super) fn expiring(self, _: &Extensions) -> Self {
        self
    }

    #[cfg(feature = "auth")]
    fn poll_expiry(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some((timer, lifetime)) = &mut self.expiry else { return Poll::Pending };
        timer.poll(cx, self.feed.lifetime().unwrap_or(lifetime))
    }

    #[cfg(not(feature = "auth"))]
    fn poll_expiry(&mut self, _: &mut Context<'_>) -> Poll<()> {
        Poll::Pending
    }

    pub(super) fn counted(mut self, share: Share) -> Self {
        self._share = Some(share);
        self
    }

    pub(super) fn register(&mut self, request: ActiveRequest, connection: Option<Share>) {
        (self.request, self._connection) = (Some(request), connection);
    }

    /// Returns the next piece of the unsent rest.
    fn piece(&mut self) -> Bytes {
        let piece = self.rest.split_to(self.rest.len().min(PIECE));
        if self.rest.is_empty() {
            // The pieces share one allocation, which is freed only after the last piece has been written. The bytes nevertheless stop
            // counting against the limit here, because hyper buffers only this last piece, and writes it soon.
            self.held = None;
        }
        piece
    }

    pub(super) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if self.poll_expiry(cx).is_ready() {
            return Poll::Ready(None);
        }
        if !self.rest.is_empty() {
            return Poll::Ready(Some(self.piece()));
        }
        let mut frames = std::mem::take(&mut self.first);
        if !self.is_over {
            self.is_over = self.feed.poll(cx, &mut frames) == Poll::Ready(false);
        }
        if !frames.is_empty() {
            self.silence.as_mut().reset(Instant::now() + self.keep_alive);
            if frames.len() <= LARGE {
                return Poll::Ready(Some(frames.into()));
            }
            frames.shrink_to_fit();
            self.held = self
                .request
                .as_ref()
                .and_then(|request| HeldAnswer::take(request.state(), frames.len()));
            if self.held.is_none() {
                tracing::debug!(
                    "a stream was ended, because too many answers are waiting to be read"
                );
                self.is_over = true;
                return Poll::Ready(None);
            }
            self.rest = frames.into();
            return Poll::Ready(Some(self.piece()));
        }
        if self.is_over {
            return Poll::Ready(None);
        }
        if self.silence.as_mut().poll(cx).is_ready() {
            self.silence.as_mut().reset(Instant::now() + self.keep_alive);
            return Poll::Ready(Some(Bytes::from_static(sse::KEEP_ALIVE)));
        }
        Poll::Pending
    }
}

impl EventFeed {
    /// Returns the stream lifetime that the feed's session keeps, which grows when the client presents new tokens. Returns `None` for a
    /// plain feed, whose stream ends with the token of the request that opened it.
    #[cfg(feature = "auth")]
    fn lifetime(&self) -> Option<&StreamLifetime> {
        match self {
            Self::Plain(_) => None,
            Self::Resumable(reader) => Some(reader.lifetime()),
            Self::Shared(reader) => Some(reader.lifetime()),
            Self::Sse(stream) => Some(stream.lifetime()),
        }
    }

    /// Waits for more frames, and appends them to `frames`. Returns `false` if there will be no more frames.
    fn poll(&mut self, cx: &mut Context<'_>, frames: &mut Vec<u8>) -> Poll<bool> {
        let mut lines = Vec::new();
        match self {
            Self::Resumable(reader) => reader.poll(cx, frames),
            Self::Shared(reader) => reader.poll(cx, frames),
            Self::Plain(source) => source.poll(cx, &mut lines).map(|more| {
                sse::messages(frames, &lines, None);
                more
            }),
            Self::Sse(stream) => stream.poll(cx, &mut lines).map(|more| {
                sse::messages(frames, &lines, Some("message"));
                more
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use http_body::Body as _;

    use super::*;

    #[test]
    fn a_message_of_any_length_is_written_in_small_pieces() {
        for length in [1, PIECE, PIECE + 1, LARGE, LARGE + 1, 3 * LARGE] {
            let mut body = HttpBody::whole(vec![b'x'; length].into());
            let mut left = length;
            while !body.is_end_stream() {
                assert_eq!(body.size_hint().exact(), Some(left as u64), "{length}");
                let mut cx = Context::from_waker(std::task::Waker::noop());
                let Poll::Ready(Some(Ok(frame))) = Pin::new(&mut body).poll_frame(&mut cx) else {
                    panic!("{length}: {left} bytes are missing");
                };
                let piece = frame.into_data().expect("a message is data").len();
                assert!(piece <= PIECE, "{length}: {piece}");
                left -= piece;
            }
            assert_eq!(left, 0, "{length}");
        }
    }
}
