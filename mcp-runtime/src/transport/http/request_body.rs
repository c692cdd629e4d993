//! Reads request bodies within the limits, and suppresses the wakeups that would only cause useless polls.
//!
//! hyper passes the body of a request through a channel: the code that drives the connection sends the pieces, and the code that answers
//! the request takes them. Each time a piece is taken, the channel wakes the sender, so that it can send the next piece. Here a single
//! tokio task does both. After the last piece there is nothing left to send, so the wakeup would only make tokio poll the task once more.
//! [`QuietBody`] and [`ConnectionWaker`] therefore hold the wakeup back, and repeat it only if more pieces are to come.

use std::{
    cell::Cell,
    future::{Future, poll_fn},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Wake, Waker},
};

use bytes::{Buf, Bytes, BytesMut};
use http::{HeaderMap, Response, StatusCode, header};
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use tokio::time::{Sleep, sleep};

use super::{
    body::HttpBody, connection_state::ConnectionState, endpoint::Endpoint,
    open_connections::ActivityClock, reply,
};
use crate::limits::{LARGE, Limit, TakenBytes};

/// Reason why a body was not read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unread {
    /// The body is longer than this number of bytes.
    TooLong(usize),
    TooSlow,
    /// The large bodies that are being read and the large requests of running calls are too large together.
    Busy,
    /// The client disconnected, or sent invalid HTTP.
    Broken,
}

impl Unread {
    fn limit(&self) -> Option<Limit> {
        match self {
            Self::TooLong(_) => Some(Limit::Message),
            Self::TooSlow => Some(Limit::BodyTime),
            Self::Busy => Some(Limit::AllBodies),
            Self::Broken => None,
        }
    }

    pub(super) fn reply(&self, endpoint: &Endpoint) -> Response<HttpBody> {
        let limits = endpoint.limits();
        if let Some(limit) = self.limit() {
            endpoint.service.tally().refuse(limit);
        }
        match self {
            Self::TooLong(most) => reply::refuse(
                StatusCode::PAYLOAD_TOO_LARGE,
                format_args!("the body is longer than {most} bytes"),
            ),
            Self::TooSlow => reply::refuse(
                StatusCode::REQUEST_TIMEOUT,
                format_args!("the body took longer than {:?}", limits.body_time),
            ),
            Self::Busy => reply::busy("too many large bodies are being read: try again later"),
            Self::Broken => reply::refuse(StatusCode::BAD_REQUEST, "the body is incomplete"),
        }
    }
}

/// Complete body of a request. It counts against the limit of all bodies until it is dropped.
pub(super) struct RequestBytes {
    pub(super) bytes: Bytes,
    _taken: TakenBytes,
}

impl RequestBytes {
    /// Returns the same body for work that goes on after this value is dropped.
    pub(super) fn held(&self, endpoint: &Endpoint) -> Self {
        let mut taken = TakenBytes::default();
        if self.bytes.len() > LARGE {
            taken.grow_over(&endpoint.service.bodies, self.bytes.len());
        }
        Self { bytes: self.bytes.clone(), _taken: taken }
    }
}

/// Maximum size of a refused body that is read and dropped to keep the connection open, in bytes. For a larger body, a new connection is
/// cheaper.
const DRAINED: u64 = 256 << 10;

/// Request body, either of the built-in server or of a mounted service.
pub(super) trait RequestBody: Body + Unpin {
    /// Begins to read and drop the rest of the body in the background, and records the end of the body in `activity`. Returns `false` if this
    /// is impossible, in which case the connection has to be closed.
    fn drain(self, activity: &Arc<ActivityClock>) -> bool;
}

impl RequestBody for QuietBody {
    /// Spawns a tokio task that reads until the body or the connection ends. If the client does not send the rest, the deadline for the
    /// head of a request ends the connection.
    fn drain(self, activity: &Arc<ActivityClock>) -> bool {
        // The task of the connection sends the next piece only after it was woken. `QuietBody` suppresses this wakeup while the
        // connection itself takes the pieces. Here another tokio task takes them, so it reads the inner body.
        let (Self(mut body), activity) = (self, activity.clone());
        tokio::spawn(async move {
            // hyper ends the channel of a body only with the next request, so its last frame is recognized by the length of the body.
            while !body.is_end_stream()
                && let Some(Ok(_)) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await
            {
            }
            activity.has_dropped_body();
        });
        true
    }
}

/// Body of a request to a mounted service. It is borrowed from the future of the request, so it cannot be read in the background.
impl<B: Body> RequestBody for Pin<&mut B> {
    fn drain(self, _: &Arc<ActivityClock>) -> bool {
        false
    }
}

/// Reader that collects the body of a request.
pub(super) struct BodyReader<B> {
    /// Body of the request. `None` after [`leave`](Self::leave) has abandoned it.
    body: Option<B>,
    /// First piece of the body. Most bodies come in one piece, which is not copied.
    first: Bytes,
    all: BytesMut,
    taken: TakenBytes,
    /// Maximum size of the body, in bytes.
    most: usize,
    /// Whether reading has failed or has exceeded a limit.
    is_over: bool,
    /// Timeout for the body, started when the server first has to wait for the client.
    timeout: Option<Pin<Box<Sleep>>>,
}

impl<B: RequestBody> BodyReader<B> {
    pub(super) fn of(body: B) -> Self {
        let (first, all) = (Bytes::new(), BytesMut::new());
        Self {
            body: Some(body),
            first,
            all,
            taken: TakenBytes::default(),
            most: 0,
            is_over: false,
            timeout: None,
        }
    }

    /// Sets the maximum size of the body, and checks the declared size before any bytes are read.
    ///
    /// # Errors
    /// Fails if the declared size exceeds `most` bytes.
    pub(super) fn check(&mut self, most: usize) -> Result<(), Unread> {
        self.most = most;
        let is_long = self.body.as_ref().is_some_and(|body| body.size_hint().lower() > most as u64);
        if is_long { Err(Unread::TooLong(most)) } else { Ok(()) }
    }

    /// Whether the server had to wait for the client.
    pub(super) fn has_waited(&self) -> bool {
        self.timeout.is_some()
    }

    /// Waits for the whole body.
    ///
    /// # Errors
    /// Fails if the body breaks off, or if it is longer or slower than the limits allow. Also fails if this body is too large together with
    /// other large bodies and the large requests of running calls.
    pub(super) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        endpoint: &Arc<Endpoint>,
    ) -> Poll<Result<RequestBytes, Unread>> {
        while let Some(body) = &mut self.body {
            match Pin::new(&mut *body).poll_frame(cx) {
                Poll::Pending => break,
                Poll::Ready(None) => return Poll::Ready(Ok(self.whole())),
                Poll::Ready(Some(Err(_))) => return Poll::Ready(self.fail(Unread::Broken)),
                Poll::Ready(Some(Ok(frame))) => {
                    let is_last = body.is_end_stream();
                    // Frames without data are trailers, which are ignored.
                    if let Ok(data) = frame.into_data()
                        && let Err(why) = self.take(data, endpoint)
                    {
                        return Poll::Ready(self.fail(why));
                    }
                    if is_last {
                        return Poll::Ready(Ok(self.whole()));
                    }
                }
            }
        }
        let most = endpoint.limits().body_time;
        let timeout = self.timeout.get_or_insert_with(|| Box::pin(sleep(most)));
        timeout.as_mut().poll(cx).map(|()| self.fail(Unread::TooSlow))
    }

    #[cold]
    fn fail(&mut self, why: Unread) -> Result<RequestBytes, Unread> {
        self.is_over = true;
        Err(why)
    }

    fn take(&mut self, mut data: B::Data, endpoint: &Arc<Endpoint>) -> Result<(), Unread> {
        let (before, more) = (self.first.len().max(self.all.len()), data.remaining());
        let length = before + more;
        if more > self.most - before {
            return Err(Unread::TooLong(self.most));
        }
        if length > LARGE {
            // Bytes that arrived while the body was small have not been counted yet.
            let new = if before > LARGE { more } else { length };
            if !self.taken.grow(&endpoint.service.bodies, new, endpoint.limits().all_bodies) {
                return Err(Unread::Busy);
            }
        }
        if before == 0 {
            self.first = data.copy_to_bytes(more);
            return Ok(());
        }
        if self.all.is_empty() {
            self.all.reserve(length);
            self.all.extend_from_slice(&self.first);
        }
        while data.has_remaining() {
            let chunk = data.chunk();
            self.all.extend_from_slice(chunk);
            let count = chunk.len();
            data.advance(count);
        }
        Ok(())
    }

    /// Abandons the body of a refused request. Returns whether the connection can be used for another request.
    pub(super) fn leave(&mut self, headers: &HeaderMap, state: &ConnectionState) -> bool {
        let Some(body) = self.body.take() else { return true };
        if body.is_end_stream() {
            return true;
        }
        // With `Expect: 100-continue` the client has not sent the body yet, and reading it would make hyper request it.
        let is_short = body.size_hint().upper().is_some_and(|size| size <= DRAINED);
        if !is_short || self.is_over || headers.contains_key(header::EXPECT) {
            return false;
        }
        state.activity.receive(state.endpoint.connections.now());
        body.drain(&state.activity)
    }

    fn whole(&mut self) -> RequestBytes {
        let first = std::mem::take(&mut self.first);
        let all = std::mem::take(&mut self.all);
        let bytes = if all.is_empty() { first } else { all.freeze() };
        RequestBytes { bytes, _taken: std::mem::take(&mut self.taken) }
    }
}

thread_local! {
    /// Whether this thread is taking a piece of a body.
    static IS_TAKING: Cell<bool> = const { Cell::new(false) };
    /// Whether the waker was called while the piece was taken.
    static WAS_CALLED: Cell<bool> = const { Cell::new(false) };
}

/// Waker for the tokio task of a connection. It suppresses wakeups while the current thread takes a piece of a body. No other wakeup is
/// lost, because during this time only the channel of the body can call the waker on this thread.
pub(super) struct ConnectionWaker {
    task: Waker,
    waker: Waker,
}

impl ConnectionWaker {
    pub(super) fn of(task: &Waker) -> Self {
        Self { task: task.clone(), waker: Arc::new(SuppressibleWake(task.clone())).into() }
    }

    /// Whether this waker wakes `task`.
    pub(super) fn wakes(&self, task: &Waker) -> bool {
        self.task.will_wake(task)
    }

    pub(super) fn waker(&self) -> &Waker {
        &self.waker
    }
}

/// Wakes a tokio task, unless the current thread is taking a piece of a body.
struct SuppressibleWake(Waker);

impl Wake for SuppressibleWake {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if IS_TAKING.get() {
            WAS_CALLED.set(true);
        } else {
            self.0.wake_by_ref();
        }
    }
}

/// Body whose last piece causes no wakeup, if its connection is polled with a [`ConnectionWaker`].
pub(super) struct QuietBody(pub(super) Incoming);

impl Body for QuietBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        IS_TAKING.set(true);
        let polled = Pin::new(&mut self.0).poll_frame(cx);
        IS_TAKING.set(false);
        if WAS_CALLED.replace(false) && !self.0.is_end_stream() {
            cx.waker().wake_by_ref();
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.size_hint()
    }
}
