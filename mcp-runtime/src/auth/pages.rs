use std::{future::Future, net::IpAddr, pin::Pin, sync::Arc};

use bytes::Bytes;
use http::{Response, request::Parts};

use super::{ProtectedResource, metadata};
use crate::limits::{Tally, Who};

/// The addresses beside the endpoint that belong to whoever verifies the tokens: those of an authorization server that is in the same
/// process. The transport leads their requests here, without asking them for a token.
pub(crate) trait Pages: Send + Sync {
    /// Whether one of them has this path.
    fn is_here(&self, path: &str) -> bool;

    /// Whether scripts of other pages may read the answer at this path, as far as they are let in at all.
    fn is_for_scripts(&self, path: &str) -> bool;

    /// All paths, for the router of an application.
    #[cfg(feature = "axum")]
    fn paths(&self) -> Vec<String>;

    /// The issuer, for a request that shows this as scheme and host of the server.
    fn issuer(&self, origin: &str) -> String;

    /// Scheme and host of the issuer, where they are known without a request.
    fn own_origin(&self) -> Option<&str>;

    /// The URL of the endpoint at this path, where it is known without a request.
    fn resource(&self, path: &str) -> Option<String>;

    /// What it grants.
    fn scopes(&self) -> Vec<String>;

    /// Makes it ready, before the first request.
    fn open(&self, place: Place) -> Pin<Box<dyn Future<Output = Result<(), String>> + Send + '_>>;

    /// Answers one request.
    fn answer(
        self: Arc<Self>,
        visit: Visit,
    ) -> Pin<Box<dyn Future<Output = Response<Vec<u8>>> + Send>>;
}

/// What a verifier says of itself that has [`Pages`]. Public only because the trait of verifiers is.
pub struct Beside(pub(crate) Arc<dyn Pages>);

/// Where a server is.
pub(crate) struct Place {
    /// What people are shown as its name.
    pub(crate) name: String,
    /// The URL that tokens are for, where it is known without a request.
    pub(crate) resource: Option<String>,
    /// The address that is listened at, where that is known.
    pub(crate) bound: Option<IpAddr>,
    /// Where it counts what it refuses.
    pub(crate) tally: Arc<Tally>,
}

/// One request to one of the pages.
pub(crate) struct Visit {
    pub(crate) parts: Arc<Parts>,
    pub(crate) body: Bytes,
    /// The URL of the endpoint that tokens are for.
    pub(crate) resource: String,
    /// The URL of the HTTP+SSE pair, where clients may ask for tokens under that name too.
    pub(crate) pair: Option<String>,
    /// Scheme and host, as the request shows them.
    pub(crate) origin: String,
    /// Where it comes from, where that is known.
    pub(crate) address: Option<IpAddr>,
}

impl Visit {
    /// Whose request it is, as far as limits can tell.
    pub(crate) fn who(&self) -> Who<'static> {
        self.address.map_or(Who::Anybody, Who::at)
    }
}

/// Scheme and host of a URL.
pub(super) fn origin(url: &str) -> &str {
    metadata::parts(url).map_or(url, |it| it.0)
}

/// What concerns the pages of the authorization server.
impl ProtectedResource {
    pub(crate) fn pages(&self) -> Option<&Arc<dyn Pages>> {
        self.pages.as_ref()
    }

    /// What every request needs and nobody could be granted.
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

    /// # Errors
    /// Why the authorization server cannot be used.
    pub(crate) async fn open(
        &self,
        name: &str,
        path: &str,
        bound: Option<IpAddr>,
        tally: &Arc<Tally>,
    ) -> Result<(), String> {
        let Some(pages) = &self.pages else { return Ok(()) };
        let resource = self.resource.clone().or_else(|| pages.resource(path));
        let (name, tally) = (name.to_owned(), tally.clone());
        pages.open(Place { name, resource, bound, tally }).await
    }

    /// A request to one of the pages. `derived` is the resource as it shows it, `pair` the URL of the HTTP+SSE pair.
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

    /// The resource where the issuer says what the server is called, whatever name a request has for it.
    pub(super) fn at_issuer(&self, derived: String) -> String {
        let path = metadata::parts(&derived).map_or("", |it| it.1);
        self.pages.as_ref().and_then(|it| it.resource(path)).unwrap_or(derived)
    }
}
