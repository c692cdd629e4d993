use std::{borrow::Cow, fmt, future::Future, net::IpAddr, sync::Arc};

use futures_core::future::BoxFuture;

use super::{bearer::BearerToken, pages::VerifierPages};
use crate::call::context::Authorization;

/// Verifier of access tokens, which identifies the callers. Set it with [`Builder::auth`](crate::Builder::auth).
///
/// [`Jwt`](crate::auth::Jwt) verifies tokens that an issuer has signed. [`StaticTokens`](crate::auth::StaticTokens) takes a few tokens from
/// the environment or, for development, from the source.
/// Implement this trait for tokens that have to be looked up:
///
/// ```
/// use mcp_runtime::auth::{Authorization, Denied, TokenVerifier};
///
/// /// Database of the keys.
/// struct Db;
///
/// impl Db {
///     /// Returns the name of the user that a key belongs to.
///     async fn owner(&self, key: &str) -> Result<Option<String>, std::io::Error> {
///         Ok((key == "s3cret").then(|| "ada".to_owned()))
///     }
/// }
///
/// struct ApiKeys(Db);
///
/// impl TokenVerifier for ApiKeys {
///     async fn verify(&self, token: &str) -> Result<Authorization, Denied> {
///         match self.0.owner(token).await {
///             Ok(Some(name)) => Ok(Authorization::new(name)),
///             Ok(None) => Err(Denied::invalid("the key is unknown")),
///             Err(_) => Err(Denied::unavailable("the keys cannot be read")),
///         }
///     }
/// }
///
/// let server = mcp_runtime::server!().auth(ApiKeys(Db));
/// ```
///
/// Accept only tokens that were issued for this server. If a server accepts a token that was issued for another service, that service can
/// impersonate the caller. The specification forbids passing the token on to another service. A handler that exchanges the token at its issuer
/// gets it with [`keep_token`](crate::auth::ProtectedResource::keep_token).
///
/// Specification: Base protocol, Authorization.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot verify access tokens",
    label = "does not implement `TokenVerifier`",
    note = "`Jwt::new(issuer, audience)` verifies tokens that an issuer has signed, and `StaticTokens::new().token_from_env(variable, name)` takes a token from the environment; to write your own verifier, implement `TokenVerifier`"
)]
pub trait TokenVerifier: Send + Sync + 'static {
    /// Verifies a token and returns the authorization of its caller. The server polls the future while it reads the request, and spawns no
    /// tokio task for it.
    ///
    /// # Errors
    /// Fails if the token is not accepted, or cannot be verified now.
    fn verify(&self, token: &str) -> impl Future<Output = Result<Authorization, Denied>> + Send;

    /// Returns the URLs of the issuers of the tokens. The server publishes these URLs, so that clients can find out where to get a token.
    /// Default: none.
    fn authorization_servers(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns the URL of this server for which tokens are issued, if the verifier knows that URL. Default: `None`.
    fn resource(&self) -> Option<String> {
        None
    }

    /// Describes a problem with the configuration of the verifier. Returns `None` if the configuration is valid, which is the default. A
    /// server whose verifier has a problem is not built.
    fn problem(&self) -> Option<String> {
        None
    }

    /// Checks whether the server may listen on this address. Called once, when the server begins to listen. `None` means that the server is
    /// mounted in an application, which listens itself. By default, every address is allowed.
    ///
    /// # Errors
    /// Fails if the server must not listen on this address. The server then does not start. The error states the reason.
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

/// Reason why a token is not accepted.
///
/// The text is sent to the caller and written to logs, so it must not contain the token.
///
/// ```
/// use mcp_runtime::auth::Denied;
///
/// let denied = Denied::invalid("the key was revoked");
/// assert_eq!(denied.to_string(), "the key was revoked");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denied {
    pub(super) why: Cow<'static, str>,
    pub(super) is_unavailable: bool,
}

impl Denied {
    /// Rejects a token that is not valid for this server, or has become invalid. The response has status 401.
    pub fn invalid(why: impl Into<Cow<'static, str>>) -> Self {
        Self { why: why.into(), is_unavailable: false }
    }

    /// Reports that the token currently cannot be verified. The response has status 503.
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

pub(crate) type Verifying = BoxFuture<'static, Result<Authorization, Denied>>;

/// Object-safe form of [`TokenVerifier`].
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
