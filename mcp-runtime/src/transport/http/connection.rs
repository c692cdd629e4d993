use std::{
    future::{Future as _, poll_fn},
    io,
    net::IpAddr,
    pin::{Pin, pin},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering::Relaxed},
    },
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
    answering::{Answering, Desk, Place},
    body::Body,
    endpoint::Endpoint,
    quiet::{Bell, Quiet},
};
use crate::{limits::Limit, transport::alarm::Alarm};

/// One connection, whose requests come one after the other.
pub(super) struct Connection {
    desk: Arc<Desk>,
    timers: Handle,
}

/// What a connection is doing, as far as it tells whether it waits for a request.
#[derive(Default)]
pub(super) struct Pulse {
    requests: AtomicU32,
    /// Requests that have no answer yet, and answers that go on.
    at_work: AtomicU32,
    /// The client does not read as fast as it is written to.
    is_blocked: AtomicBool,
    /// The last request was refused, and the rest of its body is on its way.
    has_unread_body: AtomicBool,
}

/// Held while a request is answered.
pub(super) struct Work(Arc<Desk>);

impl Work {
    pub(super) fn at(desk: Arc<Desk>) -> Self {
        desk.pulse.at_work.fetch_add(1, Relaxed);
        desk.pulse.requests.fetch_add(1, Relaxed);
        Self(desk)
    }

    pub(super) fn desk(&self) -> &Arc<Desk> {
        &self.0
    }
}

impl Clone for Work {
    fn clone(&self) -> Self {
        Self::at(self.0.clone())
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        self.0.pulse.at_work.fetch_sub(1, Relaxed);
    }
}

impl Pulse {
    /// Notes that the connection ends before the body of its last request.
    pub(super) fn leave_body(&self) {
        self.has_unread_body.store(true, Relaxed);
    }

    fn is_waiting(&self) -> bool {
        self.at_work.load(Relaxed) == 0 && !self.is_blocked.load(Relaxed)
    }
}

/// How long a connection may wait for the head of a request. Looked at a few times in that time instead of being set anew
/// for each request, so one that has had requests may wait a quarter longer.
struct Patience {
    look: Pin<Box<Sleep>>,
    alarm: Arc<Alarm>,
    waker: Waker,
    period: Duration,
    requests: u32,
    left: u32,
}

impl Patience {
    /// `timers` is the runtime whose clock is looked at. A reactor has none to look at then while its connections wait, and its
    /// processor need not be told when to wake up for it.
    fn new(time: Duration, timers: &Handle, task: &Waker) -> Self {
        let _entered = timers.enter();
        let period = time / 4;
        let alarm = Alarm::new(task.clone());
        let waker = alarm.clone().into();
        Self { look: Box::pin(sleep(period)), alarm, waker, period, requests: 0, left: 4 }
    }

    /// Whether it is at its end.
    fn is_over(&mut self, pulse: &Pulse) -> bool {
        if !self.alarm.take() {
            return false;
        }
        while self.look.as_mut().poll(&mut Context::from_waker(&self.waker)).is_ready() {
            let requests = pulse.requests.load(Relaxed);
            if requests != self.requests || !pulse.is_waiting() {
                // The time it has waited since is not known, so it counts from here.
                (self.requests, self.left) = (requests, 5);
            }
            self.left -= 1;
            if self.left == 0 {
                return true;
            }
            self.look.as_mut().reset(Instant::now() + self.period);
        }
        false
    }
}

impl Connection {
    /// Made on the runtime that lets connections in, which may be another one than that which serves it. `address` is the other end.
    ///
    /// # Panics
    /// Outside of a runtime.
    pub(super) fn new(endpoint: &Arc<Endpoint>, address: IpAddr) -> Self {
        let desk = Desk::new(endpoint.clone(), Some(address));
        Self { desk, timers: Handle::current() }
    }

    pub(super) async fn serve(self, stream: TcpStream, mut is_stopping: watch::Receiver<bool>) {
        // Small answers must not wait for each other (RFC 896).
        let _ = stream.set_nodelay(true);
        let (desk, timers) = (self.desk.clone(), self.timers.clone());
        let limits = desk.endpoint.limits();
        let wire = Wire { stream: TokioIo::new(stream), desk: desk.clone() };
        let mut connection = http1::Builder::new()
            .max_buf_size(limits.head.max(8 << 10))
            .serve_connection(wire, self);
        let mut stops = pin!(is_stopping.wait_for(|it| *it));
        let mut driven: Option<(Bell, Patience)> = None;
        let mut has_asked = false;
        let served = poll_fn(|cx| {
            let (bell, patience) = match &mut driven {
                Some(driven) if driven.0.rings(cx.waker()) => driven,
                driven => {
                    // To be woken. After that, what the endpoint says is cheaper to look at.
                    let _ = stops.as_mut().poll(cx);
                    let patience = Patience::new(limits.body_time, &timers, cx.waker());
                    driven.insert((Bell::of(cx.waker()), patience))
                }
            };
            if !has_asked && desk.endpoint.is_stopping() {
                has_asked = true;
                Pin::new(&mut connection).graceful_shutdown();
            }
            if Pin::new(&mut connection).poll(&mut Context::from_waker(bell.waker()))?.is_ready() {
                return Poll::Ready(Ok::<_, hyper::Error>(End::Finished));
            }
            if patience.is_over(&desk.pulse) {
                Poll::Ready(Ok(End::GivenUp))
            } else {
                Poll::Pending
            }
        });
        match served.await {
            Ok(End::Finished) if desk.pulse.has_unread_body.load(Relaxed) => {
                linger(connection.into_parts().io.stream.into_inner()).await;
            }
            Ok(_) => {}
            Err(error) => {
                if error.is_parse_too_large() {
                    // So long that it never became a request.
                    desk.endpoint.service.tally().refuse(Limit::Head);
                }
                tracing::debug!("a connection broke: {error}");
            }
        }
    }
}

/// How the service of a connection ends.
enum End {
    /// Its last response has been written.
    Finished,
    /// No request has come in time.
    GivenUp,
}

/// Time for a client that is still sending to see that it has been answered.
const LINGER: Duration = Duration::from_secs(2);

/// Reads and drops what a client goes on sending after the last response. A socket that is closed with unread bytes resets the
/// connection, and the response can be lost with it (RFC 9112, section 9.6).
async fn linger(mut stream: TcpStream) {
    let mut dropped = vec![0; 16 << 10];
    let read = poll_fn(|cx| {
        loop {
            let mut buffer = ReadBuf::new(&mut dropped);
            let read = ready!(Pin::new(&mut stream).poll_read(cx, &mut buffer));
            if read.is_err() || buffer.filled().is_empty() {
                return Poll::Ready(());
            }
        }
    });
    let _ = timeout(LINGER, read).await;
}

impl hyper::service::Service<Request<Incoming>> for Connection {
    type Response = Response<Body>;
    type Error = std::convert::Infallible;
    type Future = Answering<Quiet>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        let place = Place::of_path(&self.desk.endpoint, request.uri().path());
        let (parts, body) = request.into_parts();
        Answering::new(Work::at(self.desk.clone()), place, parts, Quiet(body))
    }
}

/// The bytes of a connection. It knows whether its client reads. Not being vectored, it gets head and body of an answer in
/// one piece, which costs less than a list of two.
struct Wire {
    stream: TokioIo<TcpStream>,
    desk: Arc<Desk>,
}

impl Wire {
    fn note<T>(&self, written: Poll<T>) -> Poll<T> {
        self.desk.pulse.is_blocked.store(written.is_pending(), Relaxed);
        written
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
        self.note(written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
