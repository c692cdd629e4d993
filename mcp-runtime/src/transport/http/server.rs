//! HTTP server on hyper, for programs without an HTTP application of their own.

use std::{
    fmt,
    future::{Future, poll_fn},
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
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
use crate::{
    error::ServeError,
    limits::Limit,
    transport::{runtime::once, stream::log_stop},
};

/// Sockets that listen on an address. Connections wait until a server accepts them.
pub(crate) struct HttpListener {
    listeners: Listeners,
    address: SocketAddr,
}

impl HttpListener {
    /// Listens on an address, where port 0 means any free port.
    ///
    /// # Errors
    /// Fails if the server cannot listen on the address.
    pub(crate) async fn bind(address: impl ToSocketAddrs) -> Result<Self, ServeError> {
        let listeners = listen(address).await.map_err(ServeError::Bind)?;
        let address = listeners.first.local_addr()?;
        Ok(Self { listeners, address })
    }

    /// Returns the IP address that the socket listens on.
    pub(crate) fn ip(&self) -> IpAddr {
        self.address.ip()
    }

    /// Turns the listener into a server that accepts its connections.
    pub(crate) fn serving(self, service: HttpService) -> HttpServer {
        HttpServer { listeners: self.listeners, address: self.address, service }
    }
}

/// HTTP server that listens on an address, and does not answer requests yet.
///
/// Returned by [`Builder::bind_http`](crate::Builder::bind_http), for programs that need the [address](Self::local_addr) before they
/// [serve](Self::serve), or that [stop](Self::serve_until) the server themselves. [`Builder::serve_http`](crate::Builder::serve_http) binds
/// and serves in one step, and [`HttpService`] is for applications with other routes.
///
/// Connections wait until the server serves. Every protocol revision is served at the same URL.
///
/// Specification: Base protocol, Transports, Streamable HTTP.
///
/// ```no_run
/// use mcp_runtime::prelude::*;
///
/// /// Adds two numbers.
/// #[tool]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// #[tokio::main]
/// async fn main() -> Result<(), mcp_runtime::ServeError> {
///     let server = server!().bind_http("127.0.0.1:0").await?;
///     println!("listening on {}", server.url());
///     server.serve().await
/// }
/// ```
pub struct HttpServer {
    listeners: Listeners,
    address: SocketAddr,
    service: HttpService,
}

impl fmt::Debug for HttpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpServer").field("url", &self.url()).finish_non_exhaustive()
    }
}

impl HttpServer {
    /// Returns the address that the server listens on, with the actual port if port 0 was requested.
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// Returns the URL of the endpoint for clients on this machine: the [address](Self::local_addr) with the
    /// [path](crate::Builder::path).
    ///
    /// If the server listens on all network interfaces (`0.0.0.0` or `::`), the URL has the loopback address, because clients cannot connect
    /// to the address of all interfaces everywhere. The scheme is always `http`, because the server does not terminate TLS. Behind a proxy,
    /// clients use the URL of the proxy.
    pub fn url(&self) -> String {
        format!("http://{}{}", reachable(self.address), self.endpoint().settings.path)
    }

    /// Returns the URL of the playground for browsers on this machine, or `None` if the server does not serve it.
    #[cfg(feature = "playground")]
    pub(crate) fn playground_url(&self) -> Option<String> {
        let settings = &self.endpoint().settings;
        let path = settings.sibling(super::route::PLAYGROUND);
        settings.playground.is_served.then(|| format!("http://{}{path}", reachable(self.address)))
    }

    /// Serves until the process receives SIGTERM or Ctrl-C.
    ///
    /// After the first signal, the server still accepts connections for the time of its [drain](crate::Builder::drain) (zero by default).
    /// Then it closes the listener, and running calls may finish within the [grace period](crate::limits::Limits::grace) (5 seconds by
    /// default). Each further signal ends the current period early. Finally the remaining calls are cancelled, and
    /// [`on_shutdown`](crate::Builder::on_shutdown) runs.
    /// Use [`serve_until`](Self::serve_until) to stop the server on a different event.
    ///
    /// # Errors
    /// Currently never fails: an error on one connection ends only that connection.
    ///
    /// # Cancel safety
    /// Not cancel safe: if the future is dropped, all connections are closed at once, and `on_shutdown` does not run.
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
    /// After that, the server still accepts connections for the time of its [drain](crate::Builder::drain) (zero by default). Then it accepts
    /// no new connections, and ends each stream with its last event. Running calls may finish within the
    /// [grace period](crate::limits::Limits::grace) (5 seconds by default), even if their clients have disconnected. Then the remaining calls
    /// are cancelled, and [`on_shutdown`](crate::Builder::on_shutdown) runs.
    ///
    /// ```no_run
    /// use mcp_runtime::prelude::*;
    ///
    /// #[tokio::main]
    /// async fn main() -> Result<(), mcp_runtime::ServeError> {
    ///     let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    ///     let server = server!().bind_http("127.0.0.1:0").await?;
    ///     // Enter stops the server.
    ///     std::thread::spawn(move || {
    ///         let _ = std::io::stdin().read_line(&mut String::new());
    ///         let _ = stop.send(());
    ///     });
    ///     server
    ///         .serve_until(async {
    ///             let _ = stopped.await;
    ///         })
    ///         .await
    /// }
    /// ```
    ///
    /// # Errors
    /// Currently never fails: an error on one connection ends only that connection.
    ///
    /// # Cancel safety
    /// Not cancel safe: if the future is dropped, all connections are closed at once, and `on_shutdown` does not run.
    pub async fn serve_until(self, stop: impl Future<Output = ()>) -> Result<(), ServeError> {
        self.serve_while(once(stop), None).await
    }

    /// Serves until `stop` is ready. Each further time that `stop` is ready, the current period ends early: the drain, then the grace
    /// period. Without `reactors`, connections run on the caller's runtime.
    async fn serve_while(
        self,
        mut stop: impl FnMut(&mut Context<'_>) -> Poll<()>,
        reactors: Option<&Reactors>,
    ) -> Result<(), ServeError> {
        let (stopping, is_stopping) = watch::channel(false);
        let Self { listeners, service, .. } = self;
        let endpoint = service.endpoint();
        let limits = *endpoint.limits();
        let catalog = endpoint.service.dispatcher.catalog.clone();
        let mut acceptor =
            Acceptor { endpoint, connections: JoinSet::new(), is_stopping, reactors };
        acceptor.accept_until(&listeners, &mut stop).await;
        let drain = endpoint.settings.drain;
        if !drain.is_zero() {
            endpoint.begin_drain();
            let mut over = pin!(tokio::time::sleep(drain));
            let mut drained = |cx: &mut Context<'_>| match stop(cx) {
                Poll::Ready(()) => Poll::Ready(()),
                Poll::Pending => over.as_mut().poll(cx),
            };
            acceptor.accept_until(&listeners, &mut drained).await;
        }
        acceptor.accept_last(listeners.first);
        listeners.second.into_iter().for_each(|listener| acceptor.accept_last(listener));
        let Acceptor { mut connections, .. } = acceptor;
        service.stop();
        log_stop(endpoint.service.calls_waiting(), limits.grace);
        let _ = stopping.send(true);
        let finished = {
            let all = async {
                while connections.join_next().await.is_some() {}
                endpoint.finish_calls(limits.grace).await;
            };
            let mut all = pin!(tokio::time::timeout(limits.grace, all));
            poll_fn(|cx| match stop(cx) {
                Poll::Ready(()) => Poll::Ready(false),
                Poll::Pending => all.as_mut().poll(cx).map(|finished| finished.is_ok()),
            })
            .await
        };
        // `finish_calls` may time out shortly before the outer timeout does. In this case, calls are still running although `finished` is
        // true.
        let calls = endpoint.service.calls_waiting();
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
        service.close().await;
        ended.map_err(|held| ServeError::Unresponsive(held.to_string()))
    }

    fn endpoint(&self) -> &Arc<Endpoint> {
        self.service.endpoint()
    }

    /// Whether the server requires an access token.
    #[cfg(feature = "stdio")]
    pub(super) fn is_protected(&self) -> bool {
        #[cfg(feature = "auth")]
        return self.endpoint().settings.protected.is_some();
        #[cfg(not(feature = "auth"))]
        false
    }

    /// Returns the identity that the server reports to its clients.
    #[cfg(feature = "stdio")]
    pub(crate) fn identity(&self) -> &crate::server::Identity {
        &self.endpoint().service.identity
    }
}

/// Accepts connections, and starts the task of each.
struct Acceptor<'a> {
    endpoint: &'a Arc<Endpoint>,
    /// Tasks of the connections.
    connections: JoinSet<()>,
    is_stopping: watch::Receiver<bool>,
    reactors: Option<&'a Reactors>,
}

impl Acceptor<'_> {
    /// Accepts connections until `stop` is ready.
    async fn accept_until(
        &mut self,
        listeners: &Listeners,
        stop: &mut impl FnMut(&mut Context<'_>) -> Poll<()>,
    ) {
        let open = &self.endpoint.connections;
        let most = self.most();
        while let Some(accepted) = next(listeners, &mut self.connections, most, stop).await {
            match accepted {
                Ok((stream, address)) => self.serve(stream, address),
                Err(error) => {
                    tracing::warn!("a connection could not be accepted: {error}");
                    if is_out_of_descriptors(&error) {
                        self.endpoint.service.tally().refuse(Limit::Connections);
                        open.displace();
                    }
                    // Accepting would fail again at once. The pause gives other connections time to end.
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            }
        }
    }

    /// Accepts the connections that wait for the listener, and closes it. The operating system would reset them with the listener. tokio may
    /// not have learned of them yet, so the system itself is asked.
    fn accept_last(&mut self, listener: TcpListener) {
        let Ok(listener) = listener.into_std() else { return };
        // Connections that have ended take no place of a new one.
        while self.connections.try_join_next().is_some() {}
        while self.connections.len() < self.most() {
            match accept_without_waiting(&listener) {
                Ok((stream, address)) => self.serve(stream, address),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                // The client has closed the connection. Some systems report this.
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                Err(error) => {
                    tracing::warn!("a connection could not be accepted: {error}");
                    break;
                }
            }
        }
    }

    /// Returns the maximum number of open connections, with those that are refused because the limit is reached.
    fn most(&self) -> usize {
        self.endpoint.connections.most() + RESERVE
    }

    fn serve(&mut self, stream: TcpStream, address: SocketAddr) {
        let open = &self.endpoint.connections;
        let beyond = (self.connections.len() + 1).saturating_sub(open.most() + open.ending());
        if beyond > 0 {
            self.endpoint.service.tally().refuse(Limit::Connections);
        }
        let is_full = beyond > 0 && !open.displace();
        let connection = HttpConnection::new(self.endpoint, address.ip(), is_full);
        let is_stopping = self.is_stopping.clone();
        let serve = |stream| connection.serve(stream, is_stopping);
        match self.reactors {
            Some(reactors) => reactors.spawn(&mut self.connections, stream, serve),
            None => drop(self.connections.spawn(serve(stream))),
        }
    }
}

fn accept_without_waiting(listener: &std::net::TcpListener) -> io::Result<(TcpStream, SocketAddr)> {
    let (stream, address) = listener.accept()?;
    stream.set_nonblocking(true)?;
    Ok((TcpStream::from_std(stream)?, address))
}

/// Returns the address that a client on this machine connects to. For the address of all interfaces, this is the loopback address.
fn reachable(mut address: SocketAddr) -> SocketAddr {
    match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => address.set_ip(Ipv4Addr::LOCALHOST.into()),
        IpAddr::V6(ip) if ip.is_unspecified() => address.set_ip(Ipv6Addr::LOCALHOST.into()),
        _ => {}
    }
    address
}

/// Maximum number of connections that wait to be accepted. The usual maximum of 128 is too low for a burst of clients.
const BACKLOG: u32 = 4096;

/// Size of the system's send buffer of a connection, in bytes. Linux doubles the value.
///
/// The default is several MiB, which is too much for two reasons. With so large a buffer, a slow client could read for minutes before the
/// server can write again, so the client would appear not to read at all. In addition, each client that does not read would occupy that
/// much memory.
const SEND_BUFFER: u32 = 256 << 10;

/// Socket of a server. For a name such as `localhost`, whose addresses are loopback of both families, there is a socket for each, because
/// clients differ in which one they connect to.
struct Listeners {
    first: TcpListener,
    second: Option<TcpListener>,
}

impl Listeners {
    fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<(TcpStream, SocketAddr)>> {
        let second = self.second.as_ref().map_or(Poll::Pending, |second| second.poll_accept(cx));
        if second.is_ready() { second } else { self.first.poll_accept(cx) }
    }
}

/// Listens on the first of these addresses where the system allows it, and on the same port of the other loopback address if that is among them.
async fn listen(address: impl ToSocketAddrs) -> io::Result<Listeners> {
    let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
    let mut addresses = tokio::net::lookup_host(address).await?;
    while let Some(address) = addresses.next() {
        match listen_at(address) {
            Ok(first) => {
                let is_twin = |other: &SocketAddr| {
                    let are_loopback = address.ip().is_loopback() && other.ip().is_loopback();
                    are_loopback
                        && address.port() == other.port()
                        && address.is_ipv4() != other.is_ipv4()
                };
                let port = first.local_addr()?.port();
                let twin = addresses.find(is_twin).map(|twin| SocketAddr::new(twin.ip(), port));
                // A machine without IPv6 has no such address, and the port may be in use there.
                return Ok(Listeners { first, second: twin.and_then(|at| listen_at(at).ok()) });
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn listen_at(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // Lets a restarted server listen at once, instead of only after the connections of its predecessor have timed out. On Windows the
    // option has a different meaning.
    #[cfg(not(windows))]
    socket.set_reuseaddr(true)?;
    // Accepted connections inherit the size from the listener. An error is ignored, because the server works with the system's default
    // size too, with the two disadvantages that `SEND_BUFFER` describes.
    let _ = socket.set_send_buffer_size(SEND_BUFFER);
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Returns the next connection, or `None` when the server has to stop. While waiting, removes connections that have ended.
async fn next(
    listeners: &Listeners,
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
        listeners.poll_accept(cx).map(Some)
    })
    .await
}

/// Returns a poll function that is ready each time the process receives SIGTERM or SIGINT.
#[cfg(unix)]
fn terminated() -> impl FnMut(&mut Context<'_>) -> Poll<()> {
    use tokio::signal::unix::{SignalKind, signal};
    // If a handler cannot be installed, its signal ends the process at once, without a grace period.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_name_with_loopback_addresses_of_both_families_is_reached_at_both() {
        let loopback: [SocketAddr; 2] =
            [(Ipv6Addr::LOCALHOST, 0).into(), (Ipv4Addr::LOCALHOST, 0).into()];
        // Some machines have no IPv6.
        let here = loopback.into_iter().filter(|at| std::net::TcpListener::bind(at).is_ok());
        let here: Vec<_> = here.map(|address| address.ip()).collect();
        let mut listeners = listen(&loopback[..]).await.unwrap();
        // The free port of one family may be in use in the other.
        while here.len() == 2 && listeners.second.is_none() {
            listeners = listen(&loopback[..]).await.unwrap();
        }
        let port = listeners.first.local_addr().unwrap().port();
        assert!(here.contains(&Ipv4Addr::LOCALHOST.into()), "{here:?}");
        for ip in here {
            let client = TcpStream::connect((ip, port)).await.unwrap();
            let (_, address) = poll_fn(|cx| listeners.poll_accept(cx)).await.unwrap();
            assert_eq!(address, client.local_addr().unwrap());
        }
        let other: [SocketAddr; 2] =
            [(Ipv4Addr::LOCALHOST, 0).into(), (Ipv6Addr::LOCALHOST, 9).into()];
        assert!(listen(&other[..]).await.unwrap().second.is_none());
    }

    #[test]
    fn a_client_connects_to_loopback_if_the_server_listens_on_all_interfaces() {
        for (listening, expected) in [
            ("0.0.0.0:8000", "127.0.0.1:8000"),
            ("[::]:8000", "[::1]:8000"),
            ("127.0.0.1:1", "127.0.0.1:1"),
            ("192.0.2.1:80", "192.0.2.1:80"),
        ] {
            assert_eq!(reachable(listening.parse().unwrap()).to_string(), expected);
        }
    }
}
