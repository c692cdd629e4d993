use std::{borrow::Cow, fmt, future::Future, net::IpAddr, pin::Pin, sync::Arc};

use super::{bearer::BearerToken, pages::VerifierPages};
use crate::call::context::Authorization;

/// Verifies access tokens and identifies their callers: [`Builder::auth`](crate::Builder::auth).
///
/// [`Jwt`](crate::auth::Jwt) verifies tokens that an issuer has signed, [`StaticTokens`](crate::auth::StaticTokens) is for development. Implement the
/// trait for tokens that have to be looked up:
///
/// ```
/// use mcp_runtime::auth::{Authorization, Denied, TokenVerifier};
///
/// # struct Db;
/// # impl Db { async fn owner(&self, _: &str) -> Result<Option<String>, std::io::Error> { Ok(None) } }
/// struct ApiKeys(Db);
///
/// impl TokenVerifier for ApiKeys {
///     async fn verify(&self, token: &str) -> Result<Authorization, Denied> {
///         match self.0.owner(token).await {
///             Ok(Some(name)) => Ok(Authorization::new(name)),
///             Ok(None) => Err(Denied::invalid("nobody has this key")),
///             Err(_) => Err(Denied::unavailable("the keys cannot be read")),
///         }
///     }
/// }
///
/// let server = mcp_runtime::server!().auth(ApiKeys(Db));
/// # let _ = server;
/// ```
///
/// Accept only tokens that were issued for this server. If a server accepts a token that was issued for another service, that service can
/// impersonate the caller. Only the verifier may use the token: the specification forbids passing it on to another service.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot verify access tokens",
    label = "does not implement `TokenVerifier`",
    note = "`Jwt::new(issuer, audience)` verifies tokens that an issuer has signed, and `StaticTokens` is for development; to write your own verifier, implement `TokenVerifier`"
)]
pub trait TokenVerifier: Send + Sync + 'static {
    /// Verifies a token and returns the authorization of its caller. The server polls the future while it reads the request, and spawns no
    /// task for it.
    ///
    /// # Errors
    /// Fails if the token is not accepted, or cannot be verified now.
    fn verify(&self, token: &str) -> impl Future<Output = Result<Authorization, Denied>> + Send;

    /// Returns the issuers of the tokens. The server publishes them, so that clients can find out where to get a token.
    fn authorization_servers(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns the URL of this server that tokens are issued for, if the verifier knows it.
    fn resource(&self) -> Option<String> {
        None
    }

    /// Returns what is wrong with the configuration of the verifier, or `None` if it is valid. A server whose verifier has a problem is not
    /// built.
    fn problem(&self) -> Option<String> {
        None
    }

    /// Checks whether the server may listen on this address. Called once, when the server begins to listen. `None` means that the server is
    /// mounted in an application, which listens itself.
    ///
    /// # Errors
    /// Fails if the server must not listen on this address. The server then does not start. The error says why.
    fn may_serve_at(&self, address: Option<IpAddr>) -> Result<(), String> {
        let _ = address;
        Ok(())
    }

    /// Returns the HTTP pages of the verifier. Only the crate `mcp-runtime-authorization-server` provides such pages.
    #[doc(hidden)]
    fn authorization_pages(&self) -> Option<VerifierPages> {
        None
    }
}

/// Reason why a token is not accepted. The text goes to the caller and into logs, so it must not contain the token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denied {
    pub(super) why: Cow<'static, str>,
    pub(super) is_unavailable: bool,
}

impl Denied {
    /// Rejects a token that is not valid for this server, or is not valid any more: status 401.
    pub fn invalid(why: impl Into<Cow<'static, str>>) -> Self {
        Self { why: why.into(), is_unavailable: false }
    }

    /// Reports that the token cannot be verified now: status 503.
    pub fn unavailable(why: impl Into<Cow<'static, str>>) -> Self {
        Self { why: why.into(), is_unavailable: true }
    }
}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

impl std::error::Error for Denied {}

pub(crate) type Verifying = Pin<Box<dyn Future<Output = Result<Authorization, Denied>> + Send>>;

/// A [`TokenVerifier`] of any type.
pub(crate) trait Verify: Send + Sync {
    fn verify(self: Arc<Self>, token: BearerToken) -> Verifying;
    fn problem(&self) -> Option<String>;
    fn may_serve_at(&self, address: Option<IpAddr>) -> Result<(), String>;
}

impl<V: TokenVerifier> Verify for V {
    fn verify(self: Arc<Self>, token: BearerToken) -> Verifying {
        Box::pin(async move { TokenVerifier::verify(&*self, token.as_str()).await })
    }

    fn problem(&self) -> Option<String> {
        TokenVerifier::problem(self)
    }

    fn may_serve_at(&self, address: Option<IpAddr>) -> Result<(), String> {
        TokenVerifier::may_serve_at(self, address)
    }
}
