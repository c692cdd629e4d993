//! [`Builder::serve_http`], [`Builder::bind_http`], [`Builder::into_service`] and [`Builder::into_router`].

use core::net::IpAddr;

use crate::{
    builder::Builder,
    error::ServeError,
    transport::http::{HttpListener, HttpServer, HttpService, ToSocketAddrs},
};

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

/// Builds the server and starts it. `bound` is the address that it listens on, if it is known.
async fn start(builder: Builder, bound: Option<IpAddr>) -> Result<HttpService, ServeError> {
    let settings = builder.http.clone();
    HttpService::check_address(&settings, bound)?;
    HttpService::start(builder.build()?, settings, bound).await
}
