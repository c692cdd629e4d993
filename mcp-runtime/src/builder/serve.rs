//! Methods that serve over byte streams, stdio and HTTP.

#[cfg(feature = "http")]
use core::net::IpAddr;
use std::task::Poll;

use tokio::io::{AsyncRead, AsyncWrite};

use super::Builder;
#[cfg(all(feature = "stdio", any(unix, windows)))]
use crate::transport::stdio;
#[cfg(feature = "http")]
use crate::transport::{
    http::{HttpListener, HttpServer, HttpService, ToSocketAddrs},
    relay_stderr,
};
use crate::{
    error::ServeError,
    protocol::{Peer, Service},
    transport::stream,
};

/// Serving over byte streams.
impl Builder {
    /// Serves one client over any pair of byte streams: a socket, a pipe, an in-process duplex. Each message is one line.
    ///
    /// Returns when the client has closed its side and running calls are answered. Calls that take longer than the [grace
    /// period](crate::limits::Limits::grace) are abandoned. The method needs a tokio runtime with time enabled.
    ///
    /// For stdin and stdout, use `run` or `serve_stdio` (feature `stdio`), which also protect stdout. For tests, use
    /// [`TestClient`](crate::testing::TestClient).
    ///
    /// # Errors
    /// Fails if the server cannot be built, if the store cannot be opened, if `setup` fails, or if reading or writing fails.
    ///
    /// # Cancel safety
    /// This method is not cancel safe. If the future is dropped, messages that have been read are lost, running calls get no answer, and
    /// the closures of [`on_shutdown`](Self::on_shutdown) do not run.
    ///
    /// ```no_run
    /// use mcp_runtime::prelude::*;
    /// use tokio::net::TcpListener;
    ///
    /// /// Adds two numbers.
    /// #[tool]
    /// fn add(a: i64, b: i64) -> i64 {
    ///     a + b
    /// }
    ///
    /// #[tokio::main]
    /// async fn main() -> Result<(), Box<dyn std::error::Error>> {
    ///     let listener = TcpListener::bind("127.0.0.1:9000").await?;
    ///     let (socket, _) = listener.accept().await?;
    ///     let (input, output) = socket.into_split();
    ///     Ok(mcp_runtime::server!().serve(input, output).await?)
    /// }
    /// ```
    pub async fn serve<R, W>(self, input: R, output: W) -> Result<(), ServeError>
    where
        R: AsyncRead + Unpin,
        W: AsyncWrite + Unpin,
    {
        let started = self.build()?.start().await?;
        let peer = Peer::new(Service::new(&started));
        let served = stream::serve(&peer, input, output, |_| Poll::Pending).await;
        started.stop().await;
        Ok(served?)
    }
}

/// Serving over stdio, on a tokio runtime of the program.
#[cfg(all(feature = "stdio", any(unix, windows)))]
#[cfg_attr(docsrs, doc(cfg(feature = "stdio")))]
impl Builder {
    /// Serves one client on stdin and stdout, on the caller's runtime. Use `run` instead if your program has no runtime of its own.
    ///
    /// The runtime needs I/O and time enabled. As soon as this method runs, stdout belongs to the protocol, and text that the program
    /// prints goes to stderr. On Unix, a pipe or a socket as stderr is relayed until the process ends, so a client that does not read it does
    /// not block the server.
    ///
    /// Returns when the client has closed stdin, or when the process has received SIGTERM (on Unix). Running calls may then finish within the
    /// [grace period](crate::limits::Limits::grace) (5 seconds by default), which a further SIGTERM ends early. Then the remaining calls are
    /// cancelled, and [`on_shutdown`](Self::on_shutdown) runs. To stop the server on a different event, use
    /// [`serve_stdio_until`](Self::serve_stdio_until).
    ///
    /// Specification: Base protocol, Transports (stdio).
    ///
    /// # Errors
    /// Fails if the server cannot be built, if the store cannot be opened, if `setup` fails, or if reading or writing fails.
    ///
    /// # Cancel safety
    /// This method is not cancel safe. If the future is dropped, messages that have been read are lost, running calls get no answer, and
    /// the closures of [`on_shutdown`](Self::on_shutdown) do not run.
    ///
    /// ```no_run
    /// use mcp_runtime::{ServeError, prelude::*};
    ///
    /// /// Adds two numbers.
    /// #[tool]
    /// fn add(a: i64, b: i64) -> i64 {
    ///     a + b
    /// }
    ///
    /// #[tokio::main]
    /// async fn main() -> Result<(), ServeError> {
    ///     mcp_runtime::server!().serve_stdio().await
    /// }
    /// ```
    pub async fn serve_stdio(self) -> Result<(), ServeError> {
        stdio::serve(self.build()?).await
    }

    /// Serves one client on stdin and stdout until it closes stdin, or until `stop` is ready.
    ///
    /// After that, the server reads no further messages. Running calls may finish within the
    /// [grace period](crate::limits::Limits::grace) (5 seconds by default). Then the remaining calls are cancelled, and
    /// [`on_shutdown`](Self::on_shutdown) runs.
    ///
    /// The method does not handle SIGTERM, which ends the process unless the program handles it. Otherwise it is like
    /// [`serve_stdio`](Self::serve_stdio).
    ///
    /// Specification: Base protocol, Transports (stdio).
    ///
    /// # Errors
    /// Fails if the server cannot be built, if the store cannot be opened, if `setup` fails, or if reading or writing fails.
    ///
    /// # Cancel safety
    /// This method is not cancel safe. If the future is dropped, messages that have been read are lost, running calls get no answer, and
    /// the closures of [`on_shutdown`](Self::on_shutdown) do not run.
    ///
    /// ```no_run
    /// use mcp_runtime::{ServeError, prelude::*};
    ///
    /// /// Adds two numbers.
    /// #[tool]
    /// fn add(a: i64, b: i64) -> i64 {
    ///     a + b
    /// }
    ///
    /// #[tokio::main]
    /// async fn main() -> Result<(), ServeError> {
    ///     let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    ///     // Another part of the program stops the server after an hour.
    ///     tokio::spawn(async move {
    ///         tokio::time::sleep(std::time::Duration::from_secs(3600)).await;
    ///         let _ = stop.send(());
    ///     });
    ///     let stopped = async {
    ///         let _ = stopped.await;
    ///     };
    ///     mcp_runtime::server!().serve_stdio_until(stopped).await
    /// }
    /// ```
    pub async fn serve_stdio_until(self, stop: impl Future<Output = ()>) -> Result<(), ServeError> {
        stdio::serve_until(self.build()?, stop).await
    }
}

/// Serving over HTTP, on a tokio runtime of the program.
#[cfg(feature = "http")]
impl Builder {
    /// Serves over HTTP until SIGTERM or Ctrl-C. To choose another signal, or to learn the port, use [`bind_http`](Self::bind_http).
    ///
    /// The server runs on the caller's runtime, which needs I/O and time enabled. It serves every protocol revision at once: requests of
    /// 2026-07-28, and sessions of the older revisions. On Unix and with the feature `stdio`, a pipe or a socket as stderr is relayed until the
    /// process ends, so a full pipe that no process reads does not block the server.
    ///
    /// Specification: Base protocol, Transports (Streamable HTTP).
    ///
    /// # Errors
    /// Fails if the server cannot be built, if the store cannot be opened, if `setup` fails, if the configured authorization is not
    /// possible, or if the server cannot listen on the address.
    ///
    /// # Cancel safety
    /// This method is not cancel safe. If the future is dropped, open connections are closed, and the closures of
    /// [`on_shutdown`](Self::on_shutdown) do not run.
    ///
    /// ```no_run
    /// use mcp_runtime::{ServeError, prelude::*};
    ///
    /// /// Adds two numbers.
    /// #[tool]
    /// fn add(a: i64, b: i64) -> i64 {
    ///     a + b
    /// }
    ///
    /// #[tokio::main]
    /// async fn main() -> Result<(), ServeError> {
    ///     mcp_runtime::server!().serve_http("127.0.0.1:8000").await
    /// }
    /// ```
    pub async fn serve_http(self, address: impl ToSocketAddrs) -> Result<(), ServeError> {
        relay_stderr();
        self.bind_http(address).await?.serve().await
    }

    /// Starts the server and listens on an address, where port 0 means any free port.
    ///
    /// The connections of clients wait until the returned server [serves](HttpServer::serve).
    ///
    /// # Errors
    /// Fails if the server cannot be built, if the store cannot be opened, if `setup` fails, if the configured authorization is not
    /// possible, or if the server cannot listen on the address.
    ///
    /// # Cancel safety
    /// This method is not cancel safe. If the future is dropped, the address is free again, and the work of a `setup` that was running is
    /// lost.
    ///
    /// ```no_run
    /// use mcp_runtime::{ServeError, prelude::*};
    ///
    /// /// Adds two numbers.
    /// #[tool]
    /// fn add(a: i64, b: i64) -> i64 {
    ///     a + b
    /// }
    ///
    /// #[tokio::main]
    /// async fn main() -> Result<(), ServeError> {
    ///     let server = mcp_runtime::server!().bind_http("127.0.0.1:0").await?;
    ///     println!("The endpoint is {}", server.url());
    ///     server.serve().await
    /// }
    /// ```
    pub async fn bind_http(self, address: impl ToSocketAddrs) -> Result<HttpServer, ServeError> {
        let listener = HttpListener::bind(address).await?;
        let service = start(self, Some(listener.ip())).await?;
        Ok(listener.serving(service))
    }

    /// Starts the server as a tower service, which an application on tokio mounts at any path.
    ///
    /// The service rejects requests whose [host](Builder::allow_host) or [origin](Builder::allow_origin) is not allowed. Call
    /// [`HttpService::close`] when the application stops. For an axum application, `HttpService::router` (feature `axum`) has the routes too.
    ///
    /// # Errors
    /// Fails if the server cannot be built, if the store cannot be opened, if `setup` fails, or if the configured authorization is not
    /// possible.
    ///
    /// # Cancel safety
    /// This method is not cancel safe. If the future is dropped, the work of a `setup` that was running is lost.
    ///
    /// ```no_run
    /// use axum::Router;
    /// use mcp_runtime::prelude::*;
    ///
    /// /// Adds two numbers.
    /// #[tool]
    /// fn add(a: i64, b: i64) -> i64 {
    ///     a + b
    /// }
    ///
    /// #[tokio::main]
    /// async fn main() -> Result<(), Box<dyn std::error::Error>> {
    ///     let mcp = mcp_runtime::server!().into_service().await?;
    ///     let app = Router::new().route_service("/mcp", mcp.clone());
    ///     let listener = tokio::net::TcpListener::bind("127.0.0.1:8000").await?;
    ///     axum::serve(listener, app).await?;
    ///     mcp.close().await;
    ///     Ok(())
    /// }
    /// ```
    pub async fn into_service(self) -> Result<HttpService, ServeError> {
        start(self, None).await
    }

    /// Starts the server as a router with its endpoint at [`path`](Builder::path), to merge into an axum application.
    ///
    /// The router cannot end the server: when the application stops, streams stay open, and [`on_shutdown`](Builder::on_shutdown) does not
    /// run. If that matters, or for another framework, use [`into_service`](Self::into_service). Its [`HttpService::router`] returns the same
    /// router.
    ///
    /// # Errors
    /// Fails if the server cannot be built, if the store cannot be opened, if `setup` fails, or if the configured authorization is not
    /// possible.
    ///
    /// # Cancel safety
    /// This method is not cancel safe. If the future is dropped, the work of a `setup` that was running is lost.
    ///
    /// ```no_run
    /// use axum::{Router, routing::get};
    /// use mcp_runtime::prelude::*;
    ///
    /// /// Adds two numbers.
    /// #[tool]
    /// fn add(a: i64, b: i64) -> i64 {
    ///     a + b
    /// }
    ///
    /// #[tokio::main]
    /// async fn main() -> Result<(), Box<dyn std::error::Error>> {
    ///     let mcp = mcp_runtime::server!().into_router().await?;
    ///     let app = Router::new().route("/", get(async || "hello")).merge(mcp);
    ///     let listener = tokio::net::TcpListener::bind("127.0.0.1:8000").await?;
    ///     Ok(axum::serve(listener, app).await?)
    /// }
    /// ```
    #[cfg(feature = "axum")]
    pub async fn into_router(self) -> Result<axum::Router, ServeError> {
        Ok(self.into_service().await?.router())
    }
}

#[cfg(feature = "http")]
/// Builds the server and starts it. `bound` is the address of its listener, or `None` if an application listens.
async fn start(builder: Builder, bound: Option<IpAddr>) -> Result<HttpService, ServeError> {
    #[cfg(feature = "auth")]
    let builder = {
        let mut builder = builder;
        builder.configure_auth().map_err(ServeError::Config)?;
        builder
    };
    let settings = builder.http.clone();
    HttpService::check_address(&settings, bound)?;
    HttpService::start(builder.build()?, settings, bound).await
}
