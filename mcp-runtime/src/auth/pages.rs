use std::{future::Future, net::IpAddr, pin::Pin, sync::Arc};

use bytes::Bytes;
use http::{Response, request::Parts};

use super::{ProtectedResource, metadata};
use crate::limits::{CallerKey, RefusalCounters};

/// HTTP pages of an authorization server in the same process, at paths beside the endpoint. The transport passes requests for these paths
/// on without asking for a token.
pub(crate) trait Pages: Send + Sync {
    /// Whether a page has this path.
    fn is_here(&self, path: &str) -> bool;

    /// Whether scripts of other origins may read the response at this path, if the server allows their origin.
    fn is_for_scripts(&self, path: &str) -> bool;

    /// Returns the paths of all pages, for the router of an application.
    #[cfg(feature = "axum")]
    fn paths(&self) -> Vec<String>;

    /// Returns the issuer. `origin` is the scheme and host of the server, as a request names them.
    fn issuer(&self, origin: &str) -> String;

    /// Returns the scheme and host of the issuer, if they are known without a request.
    fn own_origin(&self) -> Option<&str>;

    /// Returns the URL of the endpoint at this path, if it is known without a request.
    fn resource(&self, path: &str) -> Option<String>;

    /// Returns the names of the scopes that the authorization server grants.
    fn scopes(&self) -> Vec<String>;

    /// Prepares the authorization server, before the first request.
    fn open(&self, place: Place) -> Pin<Box<dyn Future<Output = Result<(), String>> + Send + '_>>;

    /// Answers one request.
    fn answer(
        self: Arc<Self>,
        visit: Visit,
    ) -> Pin<Box<dyn Future<Output = Response<Vec<u8>>> + Send>>;
}

/// The [`Pages`] of a verifier. Public only because the trait `TokenVerifier` is.
pub struct Beside(pub(crate) Arc<dyn Pages>);

/// Name and address of a server.
pub(crate) struct Place {
    /// Name that users are shown.
    pub(crate) name: String,
    /// URL that tokens are issued for, if it is known without a request.
    pub(crate) resource: Option<String>,
    /// Address that the server listens on, if it is known.
    pub(crate) bound: Option<IpAddr>,
    /// Counters of refusals.
    pub(crate) tally: Arc<RefusalCounters>,
}

/// Request to a page.
pub(crate) struct Visit {
    pub(crate) parts: Arc<Parts>,
    pub(crate) body: Bytes,
    /// URL of the endpoint that tokens are issued for.
    pub(crate) resource: String,
    /// URL of the HTTP+SSE endpoint, if clients may ask for tokens for that URL too.
    pub(crate) pair: Option<String>,
    /// Scheme and host of the server, as the request names them.
    pub(crate) origin: String,
    /// Address of the client, if it is known.
    pub(crate) address: Option<IpAddr>,
}

impl Visit {
    /// Returns the caller that limits count the request for.
    pub(crate) fn who(&self) -> CallerKey<'static> {
        self.address.map_or(CallerKey::Anybody, CallerKey::of_address)
    }
}

/// Returns the scheme and host of a URL.
pub(super) fn origin(url: &str) -> &str {
    metadata::parts(url).map_or(url, |it| it.0)
}

/// Methods for the pages of the authorization server.
impl ProtectedResource {
    pub(crate) fn pages(&self) -> Option<&Arc<dyn Pages>> {
        self.pages.as_ref()
    }

    /// Returns a problem if every request needs a scope that the authorization server cannot grant.
    pub(super) fn nobody_grants(&self) -> Option<String> {
        let granted = self.pages.as_ref()?.scopes();
        let is_granted = |it: &&str| {
            granted.iter().any(|granted| granted == it)
                || self.hierarchy.scopes().any(|other| other == *it)
        };
        let missing = self.required().find(|it| !is_granted(it))?;
        Some(format!(
            "every request needs `{missing}`, which nobody can be granted: say `.scope(\"{missing}\", \"…\")` of the `AuthorizationServer`"
        ))
    }

    /// Prepares the authorization server, if there is one.
    ///
    /// # Errors
    /// Fails if the authorization server cannot be used. The error says why.
    pub(crate) async fn open(
        &self,
        name: &str,
        path: &str,
        bound: Option<IpAddr>,
        tally: &Arc<RefusalCounters>,
    ) -> Result<(), String> {
        let Some(pages) = &self.pages else { return Ok(()) };
        let resource = self.resource.clone().or_else(|| pages.resource(path));
        let (name, tally) = (name.to_owned(), tally.clone());
        pages.open(Place { name, resource, bound, tally }).await
    }

    /// Returns a request to a page. `derived` is the resource as the request names it, `pair` the URL of the HTTP+SSE endpoint.
    pub(crate) fn visit(
        &self,
        derived: String,
        pair: Option<String>,
        parts: &Arc<Parts>,
        body: Bytes,
        address: Option<IpAddr>,
    ) -> Visit {
        let origin = origin(&derived).to_owned();
        let resource = self.url(|| derived).into_owned();
        let pair = pair.map(|it| self.url(|| it).into_owned());
        Visit { parts: parts.clone(), body, resource, pair, origin, address }
    }

    /// Returns the URL of the resource below the configured issuer. If no issuer is configured, returns `derived`, which the request names.
    pub(super) fn at_issuer(&self, derived: String) -> String {
        let path = metadata::parts(&derived).map_or("", |it| it.1);
        self.pages.as_ref().and_then(|it| it.resource(path)).unwrap_or(derived)
    }
}
