use std::fmt;

use serde::de::DeserializeOwned;

use super::user::User;

/// An OpenID provider that says who somebody is, in place of a page of our own: [`AuthorizationServer::delegated`].
///
/// ```
/// use mcp_runtime::{AuthorizationServer, Upstream, User};
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
/// The provider must know our redirect URI: the issuer's URL with `/callback` behind it. Before a browser is sent there, our own page asks
/// whether the client may act for its user: the provider knows of one client only, which is this server, and may ask nobody. When a client
/// gives its tokens back, or [`Logins`](crate::Logins) ends them, the provider is told at its `revocation_endpoint`, if it has one and can be
/// asked then.
///
/// [`AuthorizationServer::delegated`]: crate::AuthorizationServer::delegated
pub struct Upstream {
    pub(super) issuer: String,
    pub(super) id: String,
    pub(super) secret: Option<String>,
    pub(super) scopes: Vec<String>,
    pub(super) user: Box<Known>,
    pub(super) key: Option<[u8; 32]>,
    pub(super) hands_over: bool,
}

/// Who somebody is here.
type Known = dyn Fn(&Identity) -> Option<User> + Send + Sync;

/// What a provider says of somebody: the claims of a verified ID token.
pub struct Identity {
    pub(super) subject: String,
    pub(super) claims: String,
}

impl Identity {
    /// Who it is, among all whom the provider knows (`sub`).
    pub fn subject(&self) -> &str {
        &self.subject
    }

    /// One of the claims, if it is there and a `T`. An `email` may belong to somebody only where `email_verified` is true.
    pub fn claim<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        let claims: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(&self.claims).ok()?;
        serde_json::from_value(claims.get(name)?.clone()).ok()
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity").field("subject", &self.subject).finish_non_exhaustive()
    }
}

impl Upstream {
    /// The provider with this issuer, which knows this server as this client.
    pub fn new(
        issuer: impl Into<String>,
        client_id: impl Into<String>,
        client_secret: impl Into<String>,
    ) -> Self {
        let secret = client_secret.into();
        Self {
            issuer: issuer.into(),
            id: client_id.into(),
            // One without a secret shows PKCE alone.
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

    /// Asks for this scope too, beside `openid`; `offline_access` where the provider gives refresh tokens for it.
    #[must_use]
    pub fn scope(mut self, scope: impl Into<String>) -> Self {
        self.scopes.push(scope.into());
        self
    }

    /// Who somebody is here, or nobody. Unless said it is the provider's `sub`, with its `name`.
    #[must_use]
    pub fn user<F>(mut self, user: F) -> Self
    where
        F: Fn(&Identity) -> Option<User> + Send + Sync + 'static,
    {
        self.user = Box::new(user);
        self
    }

    /// Seals what the provider has given with this key. Unless said it is one that ends with the process, and all logins with it.
    #[must_use]
    pub fn seal_key(mut self, key: [u8; 32]) -> Self {
        self.key = Some(key);
        self
    }

    /// Lets handlers have the provider's access token, for calls to the provider in the user's name:
    /// [`Authorization::upstream_token`](crate::Authorization::upstream_token). It is never the token that a client of ours has.
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
