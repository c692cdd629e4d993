use std::net::{IpAddr, SocketAddr};

use axum::{Router, extract::ConnectInfo};
use http::request::Parts;

use super::pair;
#[cfg(feature = "auth")]
use crate::auth::WELL_KNOWN;
use crate::{builder::Builder, error::ServeError};

impl Builder {
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
    pub async fn into_router(self) -> Result<Router, ServeError> {
        let service = self.into_service().await?;
        let settings = &service.endpoint().settings;
        let mut router = Router::new().route_service(&settings.path, service.clone());
        if settings.legacy_sse {
            for name in [pair::STREAM, pair::POST] {
                router = router.route_service(&settings.sibling(name), service.clone());
            }
        }
        #[cfg(feature = "auth")]
        if let Some(protected) = &settings.protected {
            for path in protected.metadata_paths(&settings.path) {
                router = router.route_service(&path, service.clone());
            }
            if settings.legacy_sse && protected.is_pair_resource() {
                let path = format!("{WELL_KNOWN}{}", settings.sibling(pair::STREAM));
                router = router.route_service(&path, service.clone());
            }
            #[cfg(feature = "auth")]
            for path in protected.pages().map(|it| it.paths()).unwrap_or_default() {
                router = router.route_service(&path, service.clone());
            }
        }
        Ok(router)
    }
}

/// Returns the address that a request came from, if the application provides `ConnectInfo`.
pub(super) fn address(parts: &Parts) -> Option<IpAddr> {
    parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|it| it.0.ip())
}
