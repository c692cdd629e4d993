//! The methods that serve: over byte streams, stdio and HTTP.

#[cfg(feature = "http")]
use core::net::IpAddr;
use std::task::Poll;

use tokio::io::{AsyncRead, AsyncWrite};

use super::Builder;
#[cfg(feature = "http")]
use crate::transport::http::{HttpListener, HttpServer, HttpService, ToSocketAddrs};
#[cfg(all(feature = "stdio", any(unix, windows)))]
use crate::transport::stdio;
use crate::{
    error::ServeError,
    protocol::{Peer, Service},
    transport::stream,
};

impl Builder {
    /// Serves one client over any pair of byte streams: a socket, a pipe, an in-process duplex. Each message is one line.
    ///
    /// Returns when the client has closed its side and running calls are answered. Calls that take longer than the grace period of the
    /// limits are abandoned.
    ///
    /// Needs a tokio runtime with time enabled.
    ///
    /// # Errors
    /// Fails if the server cannot be built, if `setup` fails, or if reading or writing fails.
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

#[cfg(all(feature = "stdio", any(unix, windows)))]
impl Builder {
    /// Serves one client on stdin and stdout, on the caller's runtime.
    ///
    /// The runtime needs I/O and time enabled. From the start of the call, stdout belongs to the protocol: anything that is printed goes to
    /// stderr.
    ///
    /// # Errors
    /// Fails if the server cannot be built, if `setup` fails, or if reading or writing fails.
    pub async fn serve_stdio(self) -> Result<(), ServeError> {
        stdio::serve(self.build()?, false).await
    }
}

#[cfg(feature = "http")]
impl Builder {
    /// Serves over HTTP until SIGTERM or Ctrl-C: `.serve_http("127.0.0.1:8000")`.
    ///
    /// Runs on the caller's runtime, which needs I/O and time enabled. Every protocol revision is served at once: requests of 2026-07-28,
    /// and sessions of the older revisions.
    ///
    /// # Errors
    /// Fails if the server cannot be built, if `setup` fails, or if it cannot listen on the address.
    pub async fn serve_http(self, address: impl ToSocketAddrs) -> Result<(), ServeError> {
        self.bind_http(address).await?.serve().await
    }

    /// Listens on an address, where port 0 means any free port.
    ///
    /// Clients that connect are answered once the server [serves](HttpServer::serve).
    ///
    /// # Errors
    /// Fails if the server cannot be built, if `setup` fails, or if it cannot listen on the address.
    pub async fn bind_http(self, address: impl ToSocketAddrs) -> Result<HttpServer, ServeError> {
        let listener = HttpListener::bind(address).await?;
        let service = start(self, Some(listener.ip())).await?;
        Ok(listener.serving(service))
    }

    /// Starts the server as a service for an application on tokio, which mounts it on any path.
    ///
    /// The service rejects requests whose [host](Builder::allow_host) or [origin](Builder::allow_origin) is not allowed.
    ///
    /// Call [`HttpService::close`] when the application stops.
    ///
    /// # Errors
    /// Fails if the server cannot be built, or if `setup` fails.
    pub async fn into_service(self) -> Result<HttpService, ServeError> {
        start(self, None).await
    }

    /// Starts the server as a router with its endpoint at [`path`](Builder::path), to merge into an axum application.
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
    ///
    /// # Errors
    /// Fails if the server cannot be built, or if `setup` fails.
    #[cfg(feature = "axum")]
    pub async fn into_router(self) -> Result<axum::Router, ServeError> {
        let service = self.into_service().await?;
        let route =
            |router: axum::Router, path: String| router.route_service(&path, service.clone());
        Ok(service.paths().into_iter().fold(axum::Router::new(), route))
    }
}

#[cfg(feature = "http")]
/// Builds the server and starts it. `bound` is the address that it listens on, if it is known.
async fn start(builder: Builder, bound: Option<IpAddr>) -> Result<HttpService, ServeError> {
    let settings = builder.http.clone();
    HttpService::check_address(&settings, bound)?;
    HttpService::start(builder.build()?, settings, bound).await
}
