//! Interface between a protected resource and the crate `mcp-runtime-authorization-server`, which serves HTTP pages for it.

use std::{net::IpAddr, sync::Arc};

use bytes::Bytes;
use futures_core::future::BoxFuture;
use http::{Response, request::Parts};

use crate::{
    limits::{CallerKey, RefusalCounters},
    storage::Store,
};

/// Partition of a store that is not shared, in which the authorization server keeps clients and logins.
pub const LOGIN_PARTITION: &str = "authorization";

/// Name of the record in [`LOGIN_PARTITION`] with the key that seals the tokens of a provider. It exists only under the command `dev`.
pub const SEAL_KEY: &str = "seal-key";

/// HTTP pages of an authorization server in the same process. Their paths are beside the path of the MCP endpoint. The transport passes
/// requests for these paths to the authorization server, and requires no token for such requests.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not provide the pages of an authorization server",
    label = "does not implement `AuthorizationPages`",
    note = "only the crate `mcp-runtime-authorization-server` implements this trait: pass its `AuthorizationServer` to `.auth(…)`"
)]
pub trait AuthorizationPages: Send + Sync {
    /// Whether a page has this path.
    fn is_here(&self, path: &str) -> bool;

    /// Whether scripts of other origins may read the response at this path, if the server allows their origin.
    fn is_for_scripts(&self, path: &str) -> bool;

    /// Returns the paths of all pages, for the router of an application.
    fn paths(&self) -> Vec<String>;

    /// Returns the issuer. `origin` is the scheme and host of the server, as named by a request.
    fn issuer(&self, origin: &str) -> String;

    /// Returns the scheme and host of the issuer, if they are known without a request.
    fn own_origin(&self) -> Option<&str>;

    /// Returns the URL of the MCP endpoint at this path, if the URL is known without a request.
    fn resource(&self, path: &str) -> Option<String>;

    /// Returns the names of the scopes that the authorization server grants.
    fn scopes(&self) -> Vec<String>;

    /// Prepares the authorization server before the first request.
    fn open(&self, served: ServedResource) -> BoxFuture<'_, Result<(), String>>;

    /// Answers one request.
    fn answer(self: Arc<Self>, request: PageRequest) -> BoxFuture<'static, Response<Vec<u8>>>;
}

/// The [`AuthorizationPages`] that a verifier of access tokens provides.
pub struct VerifierPages(pub Arc<dyn AuthorizationPages>);

/// Data about the protected resource, which the authorization server gets before the first request.
pub struct ServedResource {
    /// Name that is shown to users.
    pub name: String,
    /// URL that tokens are issued for, if the URL is known without a request.
    pub resource: Option<String>,
    /// Address that the server listens on, if it is known.
    pub bound: Option<IpAddr>,
    /// Counters of refusals.
    pub tally: Arc<RefusalCounters>,
    /// Store for clients and grants. `None` if neither the author nor the environment has set a store, so that they are kept in memory
    /// alone.
    pub store: Option<Arc<dyn Store>>,
}

/// Request for a page of the authorization server.
pub struct PageRequest {
    /// Head of the request.
    pub parts: Arc<Parts>,
    /// Body of the request, empty for a GET.
    pub body: Bytes,
    /// URL of the endpoint that tokens are issued for.
    pub resource: String,
    /// URL of the HTTP+SSE endpoint, if clients may also request tokens for that URL.
    pub legacy_sse_url: Option<String>,
    /// Scheme and host of the server, as the request names them.
    pub origin: String,
    /// Address of the client, if it is known.
    pub address: Option<IpAddr>,
}

impl PageRequest {
    /// Returns the key under which the request counts towards the rate limits.
    #[must_use]
    pub fn caller(&self) -> CallerKey<'static> {
        self.address.map_or(CallerKey::Anybody, CallerKey::of_address)
    }
}
