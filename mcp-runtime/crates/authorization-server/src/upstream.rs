use std::fmt;

use serde::de::DeserializeOwned;

use crate::login::User;

/// OpenID provider that authenticates users in place of a login page of this server. Pass it to [`AuthorizationServer::delegated`].
///
/// ```
/// use mcp_runtime_authorization_server::{AuthorizationServer, Upstream, User};
///
/// let upstream = Upstream::new("https://accounts.example.com", "our-client-id", "our-secret")
///     .scope("email")
///     .user(|identity| identity.claim::<String>("email").map(User::new));
/// let server = mcp_runtime::server!().auth(
///     AuthorizationServer::delegated(upstream).issuer("https://notes.example.com").scope("notes:read", "Read your notes"),
/// );
/// # let _ = server;
/// ```
///
/// Register this server's redirect URI at the provider: the issuer's URL followed by `/callback`.
///
/// Before the browser goes to the provider, a page of this server asks whether the client may act for the user. The provider does not know
/// the clients of this server, and might log the user in without asking anything.
///
/// The provider is notified at its `revocation_endpoint` when a client revokes its tokens or [`Logins`](crate::Logins) ends them. If the
/// provider has no such endpoint or cannot be reached at that time, it is not notified.
///
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
pub struct UpstreamUser {
    pub(crate) subject: String,
    pub(crate) claims: String,
}

impl UpstreamUser {
    /// Returns the `sub` claim, which identifies the user at the provider.
    pub fn subject(&self) -> &str {
        &self.subject
    }

    /// Returns a claim, if it is present and deserializes to `T`. Trust an `email` only if `email_verified` is true.
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
    /// Creates a provider from its issuer, and from the client id and secret of this server at the provider. With an empty secret, this
    /// server uses PKCE alone.
    pub fn new(
        issuer: impl Into<String>,
        client_id: impl Into<String>,
        client_secret: impl Into<String>,
    ) -> Self {
        let secret = client_secret.into();
        Self {
            issuer: issuer.into(),
            id: client_id.into(),
            // A client without a secret uses PKCE alone.
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

    /// Requests this scope too, in addition to `openid`. Use `offline_access` if the provider requires it for refresh tokens.
    #[must_use]
    pub fn scope(mut self, scope: impl Into<String>) -> Self {
        self.scopes.push(scope.into());
        self
    }

    /// Sets the function that maps an identity at the provider to a user of this server. `None` rejects the login. By default, the
    /// principal is the `sub` claim of the provider, and the name is the `name` claim.
    #[must_use]
    pub fn user<F>(mut self, user: F) -> Self
    where
        F: Fn(&UpstreamUser) -> Option<User> + Send + Sync + 'static,
    {
        self.user = Box::new(user);
        self
    }

    /// Encrypts the stored tokens of the provider with this key. By default, the key is random and lost with the process, so a restart ends
    /// all logins.
    #[must_use]
    pub fn seal_key(mut self, key: [u8; 32]) -> Self {
        self.key = Some(key);
        self
    }

    /// Gives handlers the provider's access token, so that they can call the provider on behalf of the user:
    /// [`Authorization::upstream_token`](mcp_runtime::auth::Authorization::upstream_token). The clients of this server never use this
    /// token.
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
