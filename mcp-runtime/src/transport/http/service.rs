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
use http_body::Body as HttpBody;
use tower_service::Service;

use super::{
    answering::Answering, body::Body, desk::Desk, endpoint::Endpoint, place::Place, pulse::Work,
};
#[cfg(feature = "auth")]
use super::{gate, reply};
use crate::{builder::Builder, error::ServeError};

/// A server as a [`tower_service::Service`], which an application mounts.
///
/// The service answers every request that it gets, on any path. Request extensions and headers of the application are available to
/// handlers: take `Extension<T>` or `&HeaderMap` as a parameter.
///
/// When a client disconnects, its requests of protocol revision 2026-07-28 are cancelled. In a session of an older revision the calls go
/// on, and the client can come back for the answers. A client that closes its half of the connection counts as disconnected. If it has sent
/// its next request already, the server notices only when that request's turn comes.
///
/// See [`Builder::into_service`].
#[derive(Clone)]
pub struct HttpService {
    endpoint: Arc<Endpoint>,
    /// State of requests on connections that the application owns, one for each of a few threads.
    desks: Arc<[OnceLock<Arc<Desk>>; 16]>,
}

impl fmt::Debug for HttpService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpService")
            .field("path", &self.endpoint.settings.path)
            .finish_non_exhaustive()
    }
}

impl Builder {
    /// Starts the server as a service for an application on tokio, which mounts it on any path.
    ///
    /// The service rejects requests whose [host](Builder::allow_host) or [origin](Builder::allow_origin) is not allowed.
    ///
    /// Call [`HttpService::close`] when the application stops.
    ///
    /// # Errors
    /// Fails if the server cannot be built, or if `setup` fails.
    pub async fn into_service(self) -> Result<HttpService, ServeError> {
        HttpService::start(self, None).await
    }
}

impl HttpService {
    pub(super) async fn start(builder: Builder, bound: Option<IpAddr>) -> Result<Self, ServeError> {
        let settings = builder.http.clone();
        #[cfg(feature = "auth")]
        if let Some(protected) = &settings.protected {
            protected.may_serve_at(bound).map_err(ServeError::Auth)?;
        }
        let server = builder.build()?;
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
        Ok(Self { endpoint, desks: Arc::default() })
    }

    /// Returns the state that this thread uses.
    fn desk(&self) -> &Arc<Desk> {
        static LAST: AtomicUsize = AtomicUsize::new(0);
        thread_local!(static OWN: usize = LAST.fetch_add(1, Ordering::Relaxed));
        let own = OWN.with(|it| it % self.desks.len());
        self.desks[own].get_or_init(|| Desk::new(self.endpoint.clone(), None))
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
    B: HttpBody + Send + 'static,
    B::Data: Send,
    B::Error: Send,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let work = Work::at(self.desk().clone());
        Box::pin(async move {
            let place = Place::of_name(&work.desk().endpoint, request.uri().path());
            let (parts, body) = request.into_parts();
            // The application may have admitted the caller with an authorization that has expired since.
            #[cfg(feature = "auth")]
            if let Some(refused) = gate::has_ended(&parts) {
                return Ok(*reply::last(refused.into(), &parts));
            }
            let body = pin!(body);
            Answering::new(work, place, parts, body).await
        })
    }
}
