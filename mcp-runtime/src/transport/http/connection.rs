//! Connection of the built-in server: its byte stream, its deadlines, and hyper, which parses the requests.

use std::{
    future::{Future as _, poll_fn},
    io,
    net::IpAddr,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll, Waker, ready},
    time::Duration,
};

use http::{Request, Response};
use hyper::{
    body::Incoming,
    rt::{Read, ReadBufCursor, Write},
    server::conn::http1,
};
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncRead as _, ReadBuf},
    net::TcpStream,
    runtime::Handle,
    sync::watch,
    time::{Instant, Sleep, sleep, timeout},
};

use super::{
    body::HttpBody,
    connection_state::{ActiveRequest, ConnectionState},
    endpoint::Endpoint,
    open_connections::ActivityClock,
    request::RequestFuture,
    request_body::{ConnectionWaker, QuietBody},
    route::HttpRoute,
};
use crate::{
    limits::{Limit, Limits},
    transport::runtime::Alarm,
};

/// Connection of the built-in server. Its requests are answered one after the other.
pub(super) struct HttpConnection {
    opened: OpenedConnection,
    timers: Handle,
    is_full: bool,
}

impl HttpConnection {
    /// Creates the connection. Call this function on the runtime that accepts connections, because this runtime also drives the timer of
    /// the connection. A different runtime may serve the connection. `address` is the address of the remote end. If `is_full` is true, the
    /// connection answers health checks and refuses all other requests.
    ///
    /// # Panics
    /// Panics if it is called outside of a tokio runtime.
    pub(super) fn new(endpoint: &Arc<Endpoint>, address: IpAddr, is_full: bool) -> Self {
        Self {
            opened: OpenedConnection::new(endpoint, address),
            timers: Handle::current(),
            is_full,
        }
    }

    pub(super) async fn serve(self, stream: TcpStream, mut is_stopping: watch::Receiver<bool>) {
        // Disables Nagle's algorithm (RFC 896), which would delay small responses.
        let _ = stream.set_nodelay(true);
        let Self { opened, timers, is_full } = self;
        let state = &opened.state;
        let limits = state.endpoint.limits();
        let wire = Wire::new(stream, state.clone());
        let requests = Requests { state: state.clone(), is_full };
        let mut connection = http1::Builder::new()
            .max_buf_size(limits.head.max(8 << 10))
            .keep_alive(!is_full)
            .serve_connection(wire, requests);
        let mut stops = pin!(is_stopping.wait_for(|stops| *stops));
        let mut driven: Option<(ConnectionWaker, Deadlines)> = None;
        let mut has_asked = false;
        let mut last_request: Option<LastRequestWait> = None;
        let served = poll_fn(|cx| {
            let (waker, deadlines) = match &mut driven {
                Some(driven) if driven.0.wakes(cx.waker()) => driven,
                driven => {
                    // Polls the stop signal only to register the waker, so that a stop wakes this tokio task. Whether the server is
                    // stopping is then read from the endpoint's flag, which is cheaper than a further poll.
                    let _ = stops.as_mut().poll(cx);
                    let deadlines = Deadlines::new(limits, &timers, &opened.alarm, cx.waker());
                    driven.insert((ConnectionWaker::of(cx.waker()), deadlines))
                }
            };
            loop {
                if Pin::new(&mut connection)
                    .poll(&mut Context::from_waker(waker.waker()))?
                    .is_ready()
                {
                    return Poll::Ready(Ok::<_, hyper::Error>(None));
                }
                if has_asked || !state.endpoint.is_stopping() {
                    break;
                }
                let wait = last_request.get_or_insert_with(|| {
                    let _entered = timers.enter();
                    LastRequestWait::new(opened.time_for_last_request(), limits.grace)
                });
                if wait.poll(cx, &state.activity).is_pending() {
                    break;
                }
                if state.activity.awaits_rest() {
                    // hyper would go on waiting for the rest of the first head of a connection, and of each body.
                    return Poll::Ready(Ok(Some(Overdue::Stop)));
                }
                has_asked = true;
                Pin::new(&mut connection).graceful_shutdown();
            }
            deadlines.look(state).map_or(Poll::Pending, |why| Poll::Ready(Ok(Some(why))))
        });
        match served.await {
            Ok(None) if state.activity.has_unread_body() => {
                linger(connection.into_parts().io.into_stream(), &opened).await;
            }
            Ok(None) => {}
            Ok(Some(overdue)) => {
                if let Some(limit) = overdue.limit() {
                    state.endpoint.service.tally().refuse(limit);
                }
                if state.activity.is_blocked() {
                    reset(&connection.into_parts().io.into_stream());
                }
            }
            Err(error) => {
                if error.is_parse_too_large() {
                    // hyper itself refuses a head that is too long, without passing a request to the service, so the refusal is counted
                    // here.
                    state.endpoint.service.tally().refuse(Limit::Head);
                }
                tracing::debug!("the connection of {} broke: {error}", opened.address);
            }
        }
    }
}

/// Wait of a stopping server for a last request on a connection. A response that begins during the stop announces that the connection will
/// close. A response that has begun before does not, so its client may send another request. The wait begins when the connection has
/// neither a whole request nor an unread response. It begins again whenever bytes of a request arrive.
struct LastRequestWait {
    most: Duration,
    grace: Duration,
    stopped: Instant,
    /// Number of arrivals when the wait began. `None` while the connection has a whole request or an unread response.
    begun: Option<u32>,
    over: Pin<Box<Sleep>>,
}

impl LastRequestWait {
    /// Creates the wait. Call this function when the grace period begins.
    ///
    /// # Panics
    /// Panics if it is called outside of a tokio runtime with a timer.
    fn new(most: Duration, grace: Duration) -> Self {
        let over = Box::pin(sleep(Duration::ZERO));
        Self { most, grace, stopped: Instant::now(), begun: None, over }
    }

    /// Returns `Ready` if no bytes have arrived for the time of the wait.
    fn poll(&mut self, cx: &mut Context<'_>, activity: &ActivityClock) -> Poll<()> {
        let has_request = !activity.is_idle() && !activity.is_receiving();
        let begun = (!has_request).then(|| activity.arrivals());
        let begins = begun != self.begun;
        self.begun = begun;
        if has_request {
            return Poll::Pending;
        }
        if begins {
            // The grace period is for running calls, so connections without a request must close before it ends.
            let left = self.grace.saturating_sub(self.stopped.elapsed());
            self.over.as_mut().reset(Instant::now() + self.most.min(left / 2));
        }
        self.over.as_mut().poll(cx)
    }
}

/// Makes the system drop unsent bytes when the stream is closed, instead of trying to send them to a client that does not read.
#[cfg(unix)]
fn reset(stream: &TcpStream) {
    let _ = rustix::net::sockopt::set_socket_linger(stream, Some(Duration::ZERO));
}

#[cfg(not(unix))]
fn reset(_: &TcpStream) {}

/// Time for which a connection without a request stays open when the server stops. A client may have sent a request on it already.
const LAST_REQUEST: Duration = Duration::from_millis(250);

/// Time for which a connection without a request of a [trusted proxy](crate::Builder::trust_proxy) stays open. A proxy on a busy machine may
/// send a request before it notices that the connection has closed. It does not send the request again, because it cannot know whether the
/// server has begun the call.
const LAST_REQUEST_OF_PROXY: Duration = Duration::from_secs(2);

/// Maximum time for which the server reads and drops bytes after the last response, so that the client can read the response.
const LINGER: Duration = Duration::from_secs(2);

/// Reads and drops the bytes that a client still sends after the last response. If the socket were closed with unread bytes, the system
/// would reset the connection, and the client could lose the response (RFC 9112, section 9.6).
async fn linger(mut stream: TcpStream, opened: &OpenedConnection) {
    let mut dropped = vec![0; 16 << 10];
    let read = poll_fn(|cx| {
        while !opened.state.activity.is_displaced() {
            let mut buffer = ReadBuf::new(&mut dropped);
            let read = ready!(Pin::new(&mut stream).poll_read(cx, &mut buffer));
            if read.is_err() || buffer.filled().is_empty() {
                break;
            }
        }
        Poll::Ready(())
    });
    let _ = timeout(LINGER, read).await;
}

/// Service that answers the requests of a connection.
struct Requests {
    state: Arc<ConnectionState>,
    is_full: bool,
}

impl hyper::service::Service<Request<Incoming>> for Requests {
    type Response = Response<HttpBody>;
    type Error = std::convert::Infallible;
    type Future = RequestFuture<QuietBody>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        let route = HttpRoute::of_path(&self.state.endpoint.settings, request.uri().path());
        let route = if self.is_full { route.when_full() } else { route };
        let (parts, body) = request.into_parts();
        RequestFuture::new(ActiveRequest::at(self.state.clone()), route, parts, QuietBody(body))
    }
}

/// Byte stream of a connection, which records whether the client reads. The stream does not support vectored writes, so hyper copies the
/// head and the body of a response into one buffer, and sends both with one write.
struct Wire {
    stream: TokioIo<TcpStream>,
    state: Arc<ConnectionState>,
    is_blocked: bool,
}

impl Wire {
    fn new(stream: TcpStream, state: Arc<ConnectionState>) -> Self {
        Self { stream: TokioIo::new(stream), state, is_blocked: false }
    }

    fn into_stream(self) -> TcpStream {
        self.stream.into_inner()
    }

    #[cold]
    fn block(&mut self, is_blocked: bool) {
        self.is_blocked = is_blocked;
        self.state.activity.block(is_blocked, self.state.endpoint.connections.now());
    }
}

impl Read for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.stream).poll_read(cx, buffer);
        if read.is_ready() {
            self.state.activity.has_read();
        }
        read
    }
}

impl Write for Wire {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        if written.is_pending() != self.is_blocked {
            self.block(written.is_pending());
        }
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// Guard for an entry in the table of open connections. Dropping the guard removes the entry.
struct OpenedConnection {
    number: u64,
    address: IpAddr,
    state: Arc<ConnectionState>,
    alarm: Arc<Alarm>,
}

impl OpenedConnection {
    /// Adds a connection to the table. `address` is the address of the remote end.
    fn new(endpoint: &Arc<Endpoint>, address: IpAddr) -> Self {
        let open = &endpoint.connections;
        let number = open.count();
        let state = ConnectionState::new(endpoint.clone(), Some(address));
        let alarm = Alarm::new(Waker::noop().clone());
        open.insert(number, state.activity.clone(), alarm.clone());
        Self { number, address, state, alarm }
    }

    fn time_for_last_request(&self) -> Duration {
        let proxies = &self.state.endpoint.settings.proxies;
        if proxies.iter().any(|proxy| proxy.has(self.address)) {
            LAST_REQUEST_OF_PROXY
        } else {
            LAST_REQUEST
        }
    }
}

impl Drop for OpenedConnection {
    fn drop(&mut self) {
        self.state.endpoint.connections.remove(self.number, &self.state.activity);
    }
}

/// Deadlines by which the client of a connection must begin the next request, must complete the head of a request, or must read a response.
/// A single timer checks all deadlines at intervals, because a timer for each request and each write would cost more. A connection may
/// therefore be closed late, by up to a quarter of the shortest deadline.
struct Deadlines {
    look: Pin<Box<Sleep>>,
    alarm: Arc<Alarm>,
    waker: Waker,
    period: Duration,
    idle: Countdown,
    head: Countdown,
    write: Countdown,
}

/// Reason why the server closes a connection that its client has not closed.
enum Overdue {
    /// The client has not begun another request in time.
    Idle,
    /// The rest of a head, or of a body that the server drops, has not arrived in time.
    Head,
    /// The client has not read for too long.
    Write,
    /// The connection has to end, so that a different one can be served.
    Displaced,
    /// The server is stopping, and the rest of a request has not arrived in time.
    Stop,
}

impl Deadlines {
    /// Creates the deadlines. `timers` is the runtime that drives the timer, which may be a different runtime from the one that serves the
    /// connection. In that case, the thread that serves the connection has no timer for the deadlines. While it is idle, it waits for
    /// events without a timeout, so the system need not set a timer for it.
    fn new(limits: &Limits, timers: &Handle, alarm: &Arc<Alarm>, task: &Waker) -> Self {
        let _entered = timers.enter();
        let shortest = limits.body_time.min(limits.write_time).min(limits.connection_idle);
        // Keeps the period above zero, because with a period of zero `look` would loop forever.
        let period = (shortest / 4).max(Duration::from_millis(1));
        alarm.follow(task);
        // Rings the alarm, so that the first call of `look` polls the timer and thereby starts it.
        alarm.ring();
        Self {
            look: Box::pin(sleep(period)),
            alarm: alarm.clone(),
            waker: alarm.clone().into(),
            period,
            idle: Countdown::new(limits.connection_idle, period),
            head: Countdown::new(limits.body_time, period),
            write: Countdown::new(limits.write_time, period),
        }
    }

    /// Returns the reason why the connection has to end, or `None` if it may stay open.
    fn look(&mut self, state: &ConnectionState) -> Option<Overdue> {
        if !self.alarm.take() {
            return None;
        }
        let activity = &state.activity;
        if activity.is_displaced() {
            if activity.is_waiting() {
                return Some(Overdue::Displaced);
            }
            state.endpoint.connections.spare(activity);
        }
        while self.look.as_mut().poll(&mut Context::from_waker(&self.waker)).is_ready() {
            if let Some(overdue) = self.count(activity) {
                return Some(overdue);
            }
            self.look.as_mut().reset(Instant::now() + self.period);
        }
        None
    }

    fn count(&mut self, activity: &ActivityClock) -> Option<Overdue> {
        let (requests, is_idle) = (activity.requests(), activity.is_idle());
        if self.idle.is_over(requests, is_idle) {
            Some(Overdue::Idle)
        } else if self.head.is_over(requests, is_idle && activity.awaits_rest()) {
            Some(Overdue::Head)
        } else if self.write.is_over(activity.reading_changes(), activity.is_blocked()) {
            Some(Overdue::Write)
        } else {
            None
        }
    }
}

impl Overdue {
    /// Returns the limit that counts this end of the connection, if there is one. An idle connection exceeds no limit, no limit counts late
    /// heads or the end of the server, and a displacement has already been counted.
    fn limit(&self) -> Option<Limit> {
        match self {
            Self::Write => Some(Limit::WriteTime),
            Self::Idle | Self::Head | Self::Displaced | Self::Stop => None,
        }
    }
}

/// Countdown for a condition that may hold only for a limited time. The time is measured in checks instead of seconds.
struct Countdown {
    /// Number of times that the condition had begun at the last check.
    begun: u32,
    looks: u32,
    left: u32,
}

impl Countdown {
    fn new(time: Duration, period: Duration) -> Self {
        let looks = time.as_nanos().div_ceil(period.as_nanos());
        let looks = u32::try_from(looks).unwrap_or(u32::MAX - 1);
        Self { begun: 0, looks, left: looks }
    }

    /// Counts one check. `begun` is the number of times that the condition has begun, and `goes_on` is true if the condition currently
    /// holds. Returns whether the condition has lasted too long.
    fn is_over(&mut self, begun: u32, goes_on: bool) -> bool {
        if begun != self.begun || !goes_on {
            // The condition began at an unknown time since the last check, so the countdown starts at this check.
            (self.begun, self.left) = (begun, self.looks.saturating_add(1));
        }
        self.left -= 1;
        self.left == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_countdown_ends_when_nothing_new_begins() {
        let mut countdown = Countdown::new(Duration::from_secs(60), Duration::from_secs(15));
        let mut look = |begun, goes_on| countdown.is_over(begun, goes_on);
        assert!(!look(0, true) && !look(0, true) && !look(0, true));
        assert!(!look(1, true), "something has begun");
        assert!(!look(1, true) && !look(1, true) && !look(1, false), "nothing goes on");
        assert!(!look(1, true) && !look(1, true) && !look(1, true) && look(1, true));
    }
}
