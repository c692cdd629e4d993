//! A server as a service that an application mounts.

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

use super::{
    body::HttpBody,
    connection_state::{ActiveRequest, ConnectionState},
    endpoint::Endpoint,
    request::RequestFuture,
    route::HttpRoute,
};
#[cfg(feature = "auth")]
use super::{reply, token_gate};
use crate::{
    error::ServeError,
    server::{HttpSettings, Server},
};

/// A server as a [`tower_service::Service`], which an application mounts.
///
/// The service answers every request that it gets, on any path. Request extensions and headers of the application are available to
/// handlers: take `Extension<T>` or `&HeaderMap` as a parameter.
///
/// When a client disconnects, its requests of protocol revision 2026-07-28 are cancelled. In a session of an older revision the calls go
/// on, and the client can come back for the answers. A client that closes its half of the connection counts as disconnected. If it has sent
/// its next request already, the server notices only when that request's turn comes.
///
/// See [`Builder::into_service`](crate::Builder::into_service).
#[derive(Clone)]
pub struct HttpService {
    endpoint: Arc<Endpoint>,
    /// Connection state for requests on connections that the application owns. The service does not see those connections, so the
    /// requests share up to 16 states, chosen by thread.
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
    /// Checks whether a server with these settings may listen on this address, if it is known.
    ///
    /// # Errors
    /// Fails if the verifier of tokens is not made for this address.
    pub(crate) fn check_address(
        settings: &HttpSettings,
        bound: Option<IpAddr>,
    ) -> Result<(), ServeError> {
        #[cfg(feature = "auth")]
        if let Some(protected) = &settings.protected {
            protected.may_serve_at(bound).map_err(ServeError::Auth)?;
        }
        #[cfg(not(feature = "auth"))]
        let _ = (settings, bound);
        Ok(())
    }

    /// Starts a server. `bound` is the address that it listens on, if it is known.
    ///
    /// # Errors
    /// Fails if `setup` fails, or if callers cannot be identified although the server restricts access.
    pub(crate) async fn start(
        server: Server,
        settings: HttpSettings,
        bound: Option<IpAddr>,
    ) -> Result<Self, ServeError> {
        // Only a server without an application needs a verifier. An application may authenticate its callers, and a caller it does not know
        // cannot use guarded items.
        #[cfg(feature = "auth")]
        if let (Some(why), Some(_)) = (&server.unverified, bound) {
            return Err(ServeError::Auth(why.clone()));
        }
        #[cfg(feature = "auth")]
        if let Some(protected) = &settings.protected {
            let name = server.identity.title.as_ref().unwrap_or(&server.identity.name);
            let tally = &server.catalog.tally;
            let opened = protected.open(name, &settings.path, bound, tally).await;
            opened.map_err(ServeError::Auth)?;
        }
        let endpoint = Endpoint::new(server.start().await?, settings, bound);
        Ok(Self { endpoint, states: Arc::default() })
    }

    /// Returns the state that this thread uses.
    fn state(&self) -> &Arc<ConnectionState> {
        static LAST: AtomicUsize = AtomicUsize::new(0);
        thread_local!(static OWN: usize = LAST.fetch_add(1, Ordering::Relaxed));
        let own = OWN.with(|own| own % self.states.len());
        self.states[own].get_or_init(|| ConnectionState::new(self.endpoint.clone(), None))
    }

    /// Returns the paths that an application has to route to the service.
    #[cfg(feature = "axum")]
    pub(crate) fn paths(&self) -> Vec<String> {
        super::route::paths(&self.endpoint.settings)
    }

    pub(super) fn endpoint(&self) -> &Arc<Endpoint> {
        &self.endpoint
    }

    /// Ends the streams that would otherwise stay open, with a last event if the stream has one. Calls go on.
    ///
    /// Call it before the application waits for its connections to end.
    pub fn stop(&self) {
        self.endpoint.stop();
    }

    /// Gives up the calls that still run in sessions, and runs `on_shutdown`.
    pub async fn close(&self) {
        self.endpoint.close().await;
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
            // The application may have admitted the caller with an authorization that has expired since.
            #[cfg(feature = "auth")]
            if let Some(refused) = token_gate::has_ended(&parts) {
                return Ok(*reply::last(refused.into(), &parts));
            }
            let body = pin!(body);
            RequestFuture::new(active, route, parts, body).await
        })
    }
}
