use std::{borrow::Cow, fmt, future::Future, net::IpAddr, pin::Pin, sync::Arc};

use super::Token;
use crate::context::Authorization;

/// Tells who calls from an access token: [`Builder::auth`](crate::Builder::auth).
///
/// [`Jwt`](crate::Jwt) verifies those that an issuer has signed, [`StaticTokens`](crate::StaticTokens) is for development. Implement it for
/// tokens that have to be looked up:
///
/// ```
/// use mcp_runtime::{Denied, Authorization, TokenVerifier};
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
/// A token must have been issued for this very server: whoever accepts one that was issued for another lets that one's callers be
/// impersonated. The token is for the verifier alone; handing it on to another service is forbidden by the specification.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot verify access tokens",
    label = "does not implement `TokenVerifier`",
    note = "`Jwt::new(issuer, audience)` verifies what an issuer has signed, `StaticTokens` is for development; a verifier of your own is a type with `impl TokenVerifier`"
)]
pub trait TokenVerifier: Send + Sync + 'static {
    /// Tells who calls. It is polled where the request is read, so one that needs not wait costs no task.
    ///
    /// # Errors
    /// Why nobody is let in with this token.
    fn verify(&self, token: &str) -> impl Future<Output = Result<Authorization, Denied>> + Send;

    /// The issuers of the tokens, which clients are told of: they find out there how to get one.
    fn authorization_servers(&self) -> Vec<String> {
        Vec::new()
    }

    /// The URL of this server that the tokens are for, if the verifier knows it.
    fn resource(&self) -> Option<String> {
        None
    }

    /// What is wrong with how it was made: the server is not built then.
    fn problem(&self) -> Option<String> {
        None
    }

    /// Asked once, when the server begins to listen at this address; `None` where it is mounted in an application, which listens for it.
    ///
    /// # Errors
    /// Why it must not be served there: the server does not start.
    fn may_serve_at(&self, address: Option<IpAddr>) -> Result<(), String> {
        let _ = address;
        Ok(())
    }

    /// What else it has to say over HTTP, which only an authorization server of ours has.
    #[cfg(feature = "auth-server")]
    #[doc(hidden)]
    fn beside(&self) -> Option<super::pages::Beside> {
        None
    }
}

/// Why nobody is let in with a token. The words go to the caller and into logs, so they must not be made of the token's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denied {
    pub(super) why: Cow<'static, str>,
    pub(super) is_unavailable: bool,
}

impl Denied {
    /// The token is not, or no longer, one of ours: 401.
    pub fn invalid(why: impl Into<Cow<'static, str>>) -> Self {
        Self { why: why.into(), is_unavailable: false }
    }

    /// It cannot be told now: 503.
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
    fn verify(self: Arc<Self>, token: Token) -> Verifying;
    fn problem(&self) -> Option<String>;
    fn may_serve_at(&self, address: Option<IpAddr>) -> Result<(), String>;
}

impl<V: TokenVerifier> Verify for V {
    fn verify(self: Arc<Self>, token: Token) -> Verifying {
        Box::pin(async move { TokenVerifier::verify(&*self, token.as_str()).await })
    }

    fn problem(&self) -> Option<String> {
        TokenVerifier::problem(self)
    }

    fn may_serve_at(&self, address: Option<IpAddr>) -> Result<(), String> {
        TokenVerifier::may_serve_at(self, address)
    }
}
