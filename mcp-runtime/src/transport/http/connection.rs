use std::{
    future::{Future as _, poll_fn},
    io,
    net::IpAddr,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll, ready},
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
    time::timeout,
};

use super::{
    answering::Answering,
    body::Body,
    deadlines::Deadlines,
    desk::Desk,
    endpoint::Endpoint,
    open::Opened,
    place::Place,
    pulse::Work,
    quiet::{Bell, Quiet},
};
use crate::limits::Limit;

/// Connection of our own server. Its requests are answered one after the other.
pub(super) struct Connection {
    opened: Opened,
    timers: Handle,
    is_full: bool,
}

impl Connection {
    /// Makes the connection on the runtime that accepts connections. Another runtime may serve it. `address` is the other end. With
    /// `is_full`, health checks are answered, and all other requests are refused.
    ///
    /// # Panics
    /// Panics outside of a runtime.
    pub(super) fn new(endpoint: &Arc<Endpoint>, address: IpAddr, is_full: bool) -> Self {
        Self { opened: Opened::new(endpoint, address), timers: Handle::current(), is_full }
    }

    pub(super) async fn serve(self, stream: TcpStream, mut is_stopping: watch::Receiver<bool>) {
        // Small answers must not wait for each other (RFC 896).
        let _ = stream.set_nodelay(true);
        let Self { opened, timers, is_full } = self;
        let desk = &opened.desk;
        let limits = desk.endpoint.limits();
        let wire = Wire::new(stream, desk.clone());
        let requests = Requests { desk: desk.clone(), is_full };
        let mut connection = http1::Builder::new()
            .max_buf_size(limits.head.max(8 << 10))
            .keep_alive(!is_full)
            .serve_connection(wire, requests);
        let mut stops = pin!(is_stopping.wait_for(|it| *it));
        let mut driven: Option<(Bell, Deadlines)> = None;
        let mut has_asked = false;
        let served = poll_fn(|cx| {
            let (bell, deadlines) = match &mut driven {
                Some(driven) if driven.0.rings(cx.waker()) => driven,
                driven => {
                    // Polled once, so that a stop wakes this task. From then on the flag of the endpoint is cheaper to check.
                    let _ = stops.as_mut().poll(cx);
                    let deadlines = Deadlines::new(limits, &timers, &opened.alarm, cx.waker());
                    driven.insert((Bell::of(cx.waker()), deadlines))
                }
            };
            if !has_asked && desk.endpoint.is_stopping() {
                has_asked = true;
                Pin::new(&mut connection).graceful_shutdown();
            }
            if Pin::new(&mut connection).poll(&mut Context::from_waker(bell.waker()))?.is_ready() {
                return Poll::Ready(Ok::<_, hyper::Error>(None));
            }
            deadlines.look(&opened).map_or(Poll::Pending, |it| Poll::Ready(Ok(Some(it))))
        });
        match served.await {
            Ok(None) if desk.pulse.has_unread_body() => {
                linger(connection.into_parts().io.into_stream(), &opened).await;
            }
            Ok(None) => {}
            Ok(Some(overdue)) => {
                if let Some(limit) = overdue.limit() {
                    desk.endpoint.service.tally().refuse(limit);
                }
                if desk.pulse.is_blocked() {
                    reset(&connection.into_parts().io.into_stream());
                }
            }
            Err(error) => {
                if error.is_parse_too_large() {
                    // The head was too long to become a request.
                    desk.endpoint.service.tally().refuse(Limit::Head);
                }
                tracing::debug!("a connection broke: {error}");
            }
        }
    }
}

/// Makes the system drop the bytes that it would go on sending to a client that does not read.
#[cfg(unix)]
fn reset(stream: &TcpStream) {
    let _ = rustix::net::sockopt::set_socket_linger(stream, Some(Duration::ZERO));
}

#[cfg(not(unix))]
fn reset(_: &TcpStream) {}

/// Time that a client has to see its response while it is still sending.
const LINGER: Duration = Duration::from_secs(2);

/// Reads and drops the bytes that a client sends after the last response. A socket that is closed with unread bytes resets the
/// connection, and the response can be lost with it (RFC 9112, section 9.6).
async fn linger(mut stream: TcpStream, opened: &Opened) {
    let mut dropped = vec![0; 16 << 10];
    let read = poll_fn(|cx| {
        while !opened.desk.pulse.is_displaced() {
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
    desk: Arc<Desk>,
    is_full: bool,
}

impl hyper::service::Service<Request<Incoming>> for Requests {
    type Response = Response<Body>;
    type Error = std::convert::Infallible;
    type Future = Answering<Quiet>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        let place = Place::of_path(&self.desk.endpoint, request.uri().path());
        let place = if self.is_full { place.when_full() } else { place };
        let (parts, body) = request.into_parts();
        Answering::new(Work::at(self.desk.clone()), place, parts, Quiet(body))
    }
}

/// Byte stream of a connection. It records whether the client reads. Its writes are not vectored, so hyper passes head and body of
/// an answer in one piece, which costs less than two.
struct Wire {
    stream: TokioIo<TcpStream>,
    desk: Arc<Desk>,
    is_blocked: bool,
}

impl Wire {
    fn new(stream: TcpStream, desk: Arc<Desk>) -> Self {
        Self { stream: TokioIo::new(stream), desk, is_blocked: false }
    }

    fn into_stream(self) -> TcpStream {
        self.stream.into_inner()
    }

    #[cold]
    fn block(&mut self, is_blocked: bool) {
        self.is_blocked = is_blocked;
        self.desk.pulse.block(is_blocked, self.desk.endpoint.open.now());
    }
}

impl Read for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
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
