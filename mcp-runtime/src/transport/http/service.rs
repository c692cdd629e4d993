//! [`HttpService`]: a server that an application mounts.

use std::{
    convert::Infallible,
    fmt,
    future::Future,
    net::IpAddr,
    pin::{Pin, pin},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
};

use http::{Request, Response};
use http_body::Body;
use tower_service::Service;

#[cfg(feature = "playground")]
use super::playground;
use super::{
    body::HttpBody,
    connection_state::{ActiveRequest, ConnectionState},
    endpoint::Endpoint,
    request::RequestFuture,
    route::HttpRoute,
    shared_requests,
};
#[cfg(feature = "auth")]
use super::{reply, token_gate};
#[cfg(not(feature = "axum"))]
use crate::unavailable::{self, unavailable};
use crate::{
    catalog::Handle,
    error::ServeError,
    server::{HttpSettings, Server},
};

/// MCP server as a [`tower_service::Service`](https://docs.rs/tower-service/0.3/tower_service/trait.Service.html), which an application mounts.
///
/// Returned by [`Builder::into_service`](crate::Builder::into_service). Use the service in an application on hyper or tower that has other
/// routes too. For an axum application, `router` (feature `axum`) returns a router that contains the service at its paths. A program that
/// serves only MCP uses [`Builder::serve_http`](crate::Builder::serve_http) or
/// [`Builder::bind_http`](crate::Builder::bind_http) instead.
///
/// The service answers every request that it gets, on any path. Request extensions and headers of the application are available to
/// handlers: take [`Extension<T>`](crate::http::Extension) or `&HeaderMap` as a parameter. Clones are cheap, and share the server and its
/// sessions.
///
/// When a client disconnects, its requests of protocol revision 2026-07-28 are cancelled. In a session of an older revision, running calls
/// continue, and the client can return for the responses. A client that closes its half of the connection counts as disconnected. If the
/// client has already sent another request, the server notices the disconnect only when it handles that request.
///
/// Specification: Base protocol, Transports, Streamable HTTP.
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
///     let service = server!().into_service().await?;
///     let app = Router::new().route_service("/mcp", service.clone());
///     let listener = tokio::net::TcpListener::bind("127.0.0.1:8000").await?;
///     let stopping = service.clone();
///     let stopped = async move {
///         let _ = tokio::signal::ctrl_c().await;
///         stopping.stop();
///     };
///     axum::serve(listener, app).with_graceful_shutdown(stopped).await?;
///     service.close().await;
///     Ok(())
/// }
/// ```
#[derive(Clone)]
pub struct HttpService {
    endpoint: Arc<Endpoint>,
    /// State for requests on connections that the application owns. The service does not see these connections, so its requests share up to
    /// 16 states, chosen by thread.
    states: Arc<[OnceLock<Arc<ConnectionState>>; 16]>,
}

impl fmt::Debug for HttpService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpService")
            .field("path", &self.endpoint.settings.path)
            .finish_non_exhaustive()
    }
}

impl HttpService {
    /// Checks that a server with these settings may listen on the address `bound`. `None` means that the server is mounted in an
    /// application.
    ///
    /// # Errors
    /// Fails if the token verifier does not permit this address, or if the playground may not be served there.
    pub(crate) fn check_address(
        settings: &HttpSettings,
        bound: Option<IpAddr>,
    ) -> Result<(), ServeError> {
        #[cfg(feature = "auth")]
        if let Some(protected) = &settings.protected {
            protected.may_serve_at(bound).map_err(ServeError::Auth)?;
        }
        #[cfg(feature = "playground")]
        playground::check_address(settings, bound).map_err(ServeError::Playground)?;
        #[cfg(not(any(feature = "auth", feature = "playground")))]
        let _ = (settings, bound);
        Ok(())
    }

    /// Starts a server. `bound` is the address that the server listens on. `None` means that the server is mounted in an application.
    ///
    /// # Errors
    /// Fails if `setup` fails, if the store cannot be opened, or if callers cannot be identified although the server restricts access.
    pub(crate) async fn start(
        #[cfg_attr(not(feature = "auth"), allow(unused_mut, reason = "for the store of logins"))]
        mut server: Server,
        settings: HttpSettings,
        bound: Option<IpAddr>,
    ) -> Result<Self, ServeError> {
        // Only a server that listens itself needs a verifier. An application that mounts the service may authenticate its callers. If it
        // does not, its callers cannot use guarded items.
        #[cfg(feature = "auth")]
        if let (Some(why), Some(_)) = (&server.unverified, bound) {
            return Err(ServeError::Auth(why.clone()));
        }
        #[cfg(feature = "auth")]
        server.open_authorization(&settings, bound).await?;
        let endpoint = Endpoint::new(server.start().await?, settings, bound);
        shared_requests::share(&endpoint);
        Ok(Self { endpoint, states: Arc::default() })
    }

    /// Returns the connection state that the current thread uses.
    fn state(&self) -> &Arc<ConnectionState> {
        static LAST: AtomicUsize = AtomicUsize::new(0);
        thread_local!(static OWN: usize = LAST.fetch_add(1, Ordering::Relaxed));
        let own = OWN.with(|own| own % self.states.len());
        self.states[own].get_or_init(|| ConnectionState::new(self.endpoint.clone(), None))
    }

    /// Returns a router with the service at its [`path`](crate::Builder::path), to merge into an axum application.
    ///
    /// The router also has the other paths of the server, such as those of the authorization and of the HTTP+SSE transport. The application
    /// keeps the service, with which it ends the server. If it never does, [`into_router`](crate::Builder::into_router) is shorter.
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
    ///     let mcp = server!().into_service().await?;
    ///     let app = Router::new().route("/", get(async || "hello")).merge(mcp.router());
    ///     let listener = tokio::net::TcpListener::bind("127.0.0.1:8000").await?;
    ///     let stopping = mcp.clone();
    ///     let stopped = async move {
    ///         let _ = tokio::signal::ctrl_c().await;
    ///         stopping.stop();
    ///     };
    ///     axum::serve(listener, app).with_graceful_shutdown(stopped).await?;
    ///     mcp.close().await;
    ///     Ok(())
    /// }
    /// ```
    #[cfg(feature = "axum")]
    pub fn router(&self) -> axum::Router {
        let paths = super::route::paths(&self.endpoint.settings);
        paths
            .into_iter()
            .fold(axum::Router::new(), |router, path| router.route_service(&path, self.clone()))
    }

    /// Returns the handle of the server, with which the application changes the items, notifies the clients, and reaches the state.
    ///
    /// From then on, the server advertises `listChanged`. Clients that have connected before the first call of this method do not know
    /// that, so call it before the application serves.
    ///
    /// ```no_run
    /// use axum::{Router, extract::State, routing::post};
    /// use mcp_runtime::prelude::*;
    ///
    /// /// Latest news.
    /// #[resource("news://latest", subscribe)]
    /// fn latest() -> &'static str {
    ///     "Nothing new."
    /// }
    ///
    /// /// Web hook of the editors.
    /// async fn published(State(mcp): State<Handle>) {
    ///     mcp.updated("news://latest");
    /// }
    ///
    /// #[tokio::main]
    /// async fn main() -> Result<(), Box<dyn std::error::Error>> {
    ///     let mcp = server!().into_service().await?;
    ///     let app = Router::new().route("/published", post(published)).with_state(mcp.handle());
    ///     let app = app.merge(mcp.router());
    ///     let listener = tokio::net::TcpListener::bind("127.0.0.1:8000").await?;
    ///     axum::serve(listener, app).await?;
    ///     mcp.close().await;
    ///     Ok(())
    /// }
    /// ```
    pub fn handle(&self) -> Handle {
        self.endpoint.service.dispatcher.catalog.handle()
    }

    pub(super) fn endpoint(&self) -> &Arc<Endpoint> {
        &self.endpoint
    }

    /// Ends the streams that would otherwise stay open. Running calls continue. New sessions are refused, unless servers share a
    /// [store](crate::Builder::store): then another server continues them.
    ///
    /// If the protocol defines a last event for a stream, the stream sends this event before it ends. Call this method before the
    /// application waits for its connections to end, and [`close`](Self::close) after that. See [`HttpService`] for an example.
    pub fn stop(&self) {
        self.endpoint.stop();
    }

    /// Cancels the calls that still run in sessions, and runs [`on_shutdown`](crate::Builder::on_shutdown).
    ///
    /// Waits at most one second for the cancelled calls to end. Call this method once, when the application has closed its connections.
    /// Further calls do not run `on_shutdown` again.
    ///
    /// # Cancel safety
    /// Not cancel safe: if the future is dropped, `on_shutdown` may not run, or may not finish.
    pub async fn close(&self) {
        self.endpoint.close().await;
    }
}

#[cfg(not(feature = "axum"))]
unavailable! {
    impl HttpService where unavailable::AxumFeature {
        fn router<T>(&self) -> T;
    }
}

impl<B> Service<Request<B>> for HttpService
where
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Send,
{
    type Response = Response<HttpBody>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<HttpBody>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let active = ActiveRequest::at(self.state().clone());
        Box::pin(async move {
            let route =
                HttpRoute::of_mounted(&active.state().endpoint.settings, request.uri().path());
            let (parts, body) = request.into_parts();
            // The application may have admitted the caller with an authorization that has expired in the meantime.
            #[cfg(feature = "auth")]
            if let Some(refused) = token_gate::has_ended(&parts) {
                return Ok(*reply::last(refused.into(), &parts));
            }
            let body = pin!(body);
            RequestFuture::new(active, route, parts, body).await
        })
    }
}
