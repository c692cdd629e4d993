//! HTTP server on hyper, for authors who bring no application of their own.

use std::{
    fmt,
    future::{Future, poll_fn},
    io,
    net::{IpAddr, SocketAddr},
    pin::pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use tokio::{
    net::{TcpListener, TcpSocket, TcpStream, ToSocketAddrs},
    sync::watch,
    task::JoinSet,
};

use super::{
    connection::HttpConnection,
    endpoint::Endpoint,
    open_connections::{RESERVE, is_out_of_descriptors},
    reactors::Reactors,
    service::HttpService,
};
use crate::{error::ServeError, limits::Limit};

/// Socket that listens on an address. Clients that connect to it wait until a server accepts them.
pub(crate) struct HttpListener {
    listener: TcpListener,
    address: SocketAddr,
}

impl HttpListener {
    /// Listens on an address, where port 0 means any free port.
    ///
    /// # Errors
    /// Fails if the server cannot listen on the address.
    pub(crate) async fn bind(address: impl ToSocketAddrs) -> Result<Self, ServeError> {
        let listener = listen(address).await.map_err(ServeError::Bind)?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address })
    }

    /// Returns the IP address that the socket listens on.
    pub(crate) fn ip(&self) -> IpAddr {
        self.address.ip()
    }

    /// Returns a server that accepts its clients from this listener.
    pub(crate) fn serving(self, service: HttpService) -> HttpServer {
        HttpServer { listener: self.listener, address: self.address, service }
    }
}

/// A server that listens and does not answer yet: see [`Builder::bind_http`](crate::Builder::bind_http).
pub struct HttpServer {
    listener: TcpListener,
    address: SocketAddr,
    service: HttpService,
}

impl fmt::Debug for HttpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpServer").field("url", &self.url()).finish_non_exhaustive()
    }
}

impl HttpServer {
    /// Returns the address that the server listens on.
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// Returns the URL for clients: the address with the path of the endpoint.
    pub fn url(&self) -> String {
        format!("http://{}{}", self.address, self.endpoint().settings.path)
    }

    /// Serves until the process receives SIGTERM or Ctrl-C.
    ///
    /// Running calls may then finish, until a second signal comes or the [grace period](crate::limits::Limits::grace) is over.
    ///
    /// # Errors
    /// Never fails today: an error of one connection ends only that connection.
    pub async fn serve(self) -> Result<(), ServeError> {
        self.serve_while(terminated(), None).await
    }

    /// Like [`serve`](Self::serve), with connections on the threads of `reactors`.
    #[cfg(feature = "stdio")]
    pub(super) async fn serve_on(self, reactors: &Reactors) -> Result<(), ServeError> {
        self.serve_while(terminated(), Some(reactors)).await
    }

    /// Serves until `stop` is ready.
    ///
    /// Then no new client is accepted, and streams end with their last event. Running calls may finish within the [grace
    /// period](crate::limits::Limits::grace), also those whose clients have left.
    ///
    /// # Errors
    /// Never fails today: an error of one connection ends only that connection.
    pub async fn serve_until(self, stop: impl Future<Output = ()>) -> Result<(), ServeError> {
        let mut stop = Box::pin(stop);
        let mut asked = false;
        let stop = move |cx: &mut Context<'_>| {
            if asked {
                return Poll::Pending;
            }
            asked = stop.as_mut().poll(cx).is_ready();
            if asked { Poll::Ready(()) } else { Poll::Pending }
        };
        self.serve_while(stop, None).await
    }

    /// Serves until `stop` is ready, and ends the grace period when `stop` is ready again. Without reactors, connections are served on the
    /// caller's runtime.
    async fn serve_while(
        self,
        mut stop: impl FnMut(&mut Context<'_>) -> Poll<()>,
        reactors: Option<&Reactors>,
    ) -> Result<(), ServeError> {
        let (stopping, is_stopping) = watch::channel(false);
        let mut connections = JoinSet::new();
        let limits = *self.endpoint().limits();
        let catalog = self.endpoint().service.dispatcher.catalog.clone();
        let (open, tally) = (&self.endpoint().connections, self.endpoint().service.tally());
        let most = open.most();
        while let Some(accepted) =
            next(&self.listener, &mut connections, most + RESERVE, &mut stop).await
        {
            match accepted {
                Ok((stream, address)) => {
                    let beyond = (connections.len() + 1).saturating_sub(most + open.ending());
                    if beyond > 0 {
                        tally.refuse(Limit::Connections);
                    }
                    let is_full = beyond > 0 && !open.displace();
                    let connection = HttpConnection::new(self.endpoint(), address.ip(), is_full);
                    let is_stopping = is_stopping.clone();
                    let serve = |stream| connection.serve(stream, is_stopping);
                    match reactors {
                        Some(reactors) => reactors.spawn(&mut connections, stream, serve),
                        None => drop(connections.spawn(serve(stream))),
                    }
                }
                Err(error) => {
                    tracing::warn!("a connection could not be accepted: {error}");
                    if is_out_of_descriptors(&error) {
                        tally.refuse(Limit::Connections);
                        open.displace();
                    }
                    // The loop pauses, because other connections must end first.
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            }
        }
        drop(self.listener);
        self.service.stop();
        let _ = stopping.send(true);
        let finished = {
            let all = async {
                while connections.join_next().await.is_some() {}
                self.service.endpoint().drain(limits.grace).await;
            };
            let mut all = pin!(tokio::time::timeout(limits.grace, all));
            poll_fn(|cx| match stop(cx) {
                Poll::Ready(()) => Poll::Ready(false),
                Poll::Pending => all.as_mut().poll(cx).map(|finished| finished.is_ok()),
            })
            .await
        };
        // `drain` may give up a moment before the outer timeout, so `finished` does not mean that no call is left.
        let calls = self.service.endpoint().service.calls_waiting();
        if !finished || calls > 0 {
            tracing::warn!(
                "connections and calls that were still open after the grace period have been dropped; connections: {}, calls: {calls}",
                connections.len()
            );
        }
        let ended = match reactors {
            Some(reactors) => reactors.shut_down(&mut connections, &catalog.snapshot()).await,
            None => {
                connections.shutdown().await;
                Ok(())
            }
        };
        self.service.close().await;
        ended.map_err(|held| ServeError::Unresponsive(held.to_string()))
    }

    fn endpoint(&self) -> &Arc<Endpoint> {
        self.service.endpoint()
    }

    /// Whether callers need an access token.
    #[cfg(feature = "stdio")]
    pub(super) fn is_protected(&self) -> bool {
        #[cfg(feature = "auth")]
        return self.endpoint().settings.protected.is_some();
        #[cfg(not(feature = "auth"))]
        false
    }

    /// Returns the name and the version that the server tells its clients.
    #[cfg(feature = "stdio")]
    pub(super) fn identity(&self) -> &crate::server::Identity {
        &self.endpoint().service.identity
    }
}

/// Number of clients that may wait to be accepted. A burst of clients overflows the usual 128.
const BACKLOG: u32 = 4096;

/// Number of bytes that the system buffers for a client that has not read them yet. Linux doubles the value. With the default of several
/// MiB, the server would not notice for minutes that a slow client reads. A client that reads nothing would occupy that much memory.
const SEND_BUFFER: u32 = 256 << 10;

async fn listen(address: impl ToSocketAddrs) -> io::Result<TcpListener> {
    let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for address in tokio::net::lookup_host(address).await? {
        let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
        // A restarted server must not wait for the connections of the previous one. On Windows the option means something else.
        #[cfg(not(windows))]
        socket.set_reuseaddr(true)?;
        // Accepted connections inherit the size from the listener. If the system refuses the size, only more memory is used.
        let _ = socket.set_send_buffer_size(SEND_BUFFER);
        match socket.bind(address).and_then(|()| socket.listen(BACKLOG)) {
            Ok(listener) => return Ok(listener),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Returns the next connection, or `None` when the server has to stop. Meanwhile, connections that have ended are removed.
async fn next(
    listener: &TcpListener,
    connections: &mut JoinSet<()>,
    most: usize,
    stop: &mut impl FnMut(&mut Context<'_>) -> Poll<()>,
) -> Option<io::Result<(TcpStream, SocketAddr)>> {
    poll_fn(|cx| {
        if stop(cx).is_ready() {
            return Poll::Ready(None);
        }
        while let Poll::Ready(Some(_)) = connections.poll_join_next(cx) {}
        if connections.len() >= most {
            return Poll::Pending;
        }
        listener.poll_accept(cx).map(Some)
    })
    .await
}

/// Returns a function that is ready each time the process receives SIGTERM or SIGINT.
#[cfg(unix)]
fn terminated() -> impl FnMut(&mut Context<'_>) -> Poll<()> {
    use tokio::signal::unix::{SignalKind, signal};
    // If there is no handler, the signal ends the process at once, without a grace period.
    let kinds = [SignalKind::terminate(), SignalKind::interrupt()];
    let mut signals: Vec<_> = kinds.into_iter().filter_map(|kind| signal(kind).ok()).collect();
    move |cx| {
        let asked = signals.iter_mut().any(|signal| signal.poll_recv(cx).is_ready());
        if asked { Poll::Ready(()) } else { Poll::Pending }
    }
}

#[cfg(windows)]
fn terminated() -> impl FnMut(&mut Context<'_>) -> Poll<()> {
    let mut signal = tokio::signal::windows::ctrl_c().ok();
    move |cx| match signal.as_mut().map(|signal| signal.poll_recv(cx)) {
        Some(Poll::Ready(Some(()))) => Poll::Ready(()),
        _ => Poll::Pending,
    }
}

#[cfg(not(any(unix, windows)))]
fn terminated() -> impl FnMut(&mut Context<'_>) -> Poll<()> {
    |_| Poll::Pending
}
