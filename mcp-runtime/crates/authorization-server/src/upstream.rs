//! Settings of the upstream provider, as the author of a server writes them.

use std::fmt;

use serde::de::DeserializeOwned;

use crate::login::User;

/// OpenID provider at which users log in, instead of on a login page of this server.
///
/// Pass it to [`AuthorizationServer::delegated`]. To check passwords with a function of your own, use [`AuthorizationServer::new`] instead.
///
/// ```
/// use mcp_runtime_authorization_server::{AuthorizationServer, Upstream, User};
///
/// let upstream =
///     Upstream::new("https://accounts.example.com", "our-client-id", "our-secret")
///         .scope("email")
///         .user(|identity| {
///             let is_verified = identity.claim("email_verified").unwrap_or(false);
///             let email: String = identity.claim("email")?;
///             is_verified.then(|| User::new(email))
///         });
/// let server = mcp_runtime::server!().auth(
///     AuthorizationServer::delegated(upstream)
///         .issuer("https://notes.example.com")
///         .scope("notes:read", "Read your notes"),
/// );
/// # let _ = server;
/// ```
///
/// **Redirect URI.** Register `https://notes.example.com/callback` at the provider: the [`issuer`](crate::AuthorizationServer::issuer) of
/// this server, followed by `/callback`.
///
/// **Consent.** Before the browser goes to the provider, a page of this server asks whether the client may act for the user. The provider
/// does not know the clients of this server, and might log the user in without asking anything.
///
/// **Revocation.** When a login ends because the client revokes its tokens, because its code is used twice, or because of
/// [`Logins`](crate::Logins), this server notifies the provider's `revocation_endpoint`. It does not try again if the provider cannot be reached.
///
/// [`AuthorizationServer::new`]: crate::AuthorizationServer::new
/// [`AuthorizationServer::delegated`]: crate::AuthorizationServer::delegated
pub struct Upstream {
    pub(crate) issuer: String,
    pub(crate) id: String,
    pub(crate) secret: Option<String>,
    pub(crate) scopes: Vec<String>,
    pub(crate) user: Box<UserFunction>,
    pub(crate) key: Option<[u8; 32]>,
    pub(crate) hands_over: bool,
}

/// Function that maps an identity at the provider to a user of this server.
type UserFunction = dyn Fn(&UpstreamUser) -> Option<User> + Send + Sync;

/// Identity of a user at the provider: the claims of a verified ID token.
///
/// Passed to the function that was set with [`Upstream::user`], which maps it to a [`User`]. For an example, see [`Upstream`].
pub struct UpstreamUser {
    pub(crate) subject: String,
    pub(crate) claims: String,
}

impl UpstreamUser {
    /// Returns the `sub` claim, which identifies the user at the provider.
    pub fn subject(&self) -> &str {
        &self.subject
    }

    /// Returns a claim, or `None` if it is missing or cannot be deserialized to `T`.
    ///
    /// Trust the claim `email` only if the claim `email_verified` is `true`.
    pub fn claim<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        let claims: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(&self.claims).ok()?;
        serde_json::from_value(claims.get(name)?.clone()).ok()
    }
}

impl fmt::Debug for UpstreamUser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UpstreamUser").field("subject", &self.subject).finish_non_exhaustive()
    }
}

impl Upstream {
    /// Creates a provider from its issuer, and from the client id and secret of this server at the provider.
    ///
    /// The issuer is the URL of the provider, exactly as the provider's metadata contains it. If the secret is empty, this server
    /// authenticates its requests with PKCE alone.
    pub fn new(
        issuer: impl Into<String>,
        client_id: impl Into<String>,
        client_secret: impl Into<String>,
    ) -> Self {
        let secret = client_secret.into();
        Self {
            issuer: issuer.into(),
            id: client_id.into(),
            secret: (!secret.is_empty()).then_some(secret),
            scopes: vec!["openid".to_owned()],
            user: Box::new(|identity| {
                let user = User::new(identity.subject());
                Some(match identity.claim::<String>("name") {
                    Some(name) => user.name(name),
                    None => user,
                })
            }),
            key: None,
            hands_over: false,
        }
    }

    /// Adds a scope to request from the provider, in addition to `openid`.
    ///
    /// Add `offline_access` if the provider requires it for refresh tokens.
    #[must_use]
    pub fn scope(mut self, scope: impl Into<String>) -> Self {
        self.scopes.push(scope.into());
        self
    }

    /// Sets the function that maps an identity at the provider to a user of this server. If it returns `None`, the login is rejected.
    ///
    /// By default, the user's identifier is the `sub` claim, and the name on pages is the `name` claim.
    #[must_use]
    pub fn user<F>(mut self, user: F) -> Self
    where
        F: Fn(&UpstreamUser) -> Option<User> + Send + Sync + 'static,
    {
        self.user = Box::new(user);
        self
    }

    /// Sets the key that encrypts the stored tokens of the provider: 32 random bytes that only this server knows.
    ///
    /// By default, each process creates a random key, so a restart ends all logins. The servers of one `dev` have the same key. If several
    /// nodes share a store, the first node creates the key and puts it into the store, so a person who can read the store can open the tokens.
    /// A key that you set never gets into the store, and must be the same for all nodes.
    #[must_use]
    pub fn seal_key(mut self, key: [u8; 32]) -> Self {
        self.key = Some(key);
        self
    }

    /// Gives handlers the provider's access token, so that they can call the provider's API on behalf of the user.
    ///
    /// Handlers get the token from [`Authorization::upstream_token`](mcp_runtime::auth::Authorization::upstream_token). The clients of
    /// this server never receive it. Default: handlers do not get the token.
    #[must_use]
    pub fn hand_over(mut self) -> Self {
        self.hands_over = true;
        self
    }
}

impl fmt::Debug for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Upstream")
            .field("issuer", &self.issuer)
            .field("client_id", &self.id)
            .finish_non_exhaustive()
    }
}
