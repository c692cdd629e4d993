use std::{fmt, future::Future, net::IpAddr, sync::Arc};

use super::{
    core::{Core, Scope, Way},
    login::{Judge, LoginPage, LoginRequest},
    logins::Logins,
    provider::Provider,
    upstream::Upstream,
    user::User,
};
use mcp_runtime::{__companion::VerifierPages, Authorization, Denied, TokenVerifier};

/// OAuth 2.1 authorization server inside the MCP server that accepts its tokens, for development and for single nodes. Pass it to
/// [`Builder::auth`](mcp_runtime::Builder::auth).
///
/// Your function authenticates users. The framework does the rest: registration of clients, pages, codes and tokens.
///
/// ```
/// use mcp_runtime_authorization_server::{AuthorizationServer, LoginPage, LoginRequest, User};
///
/// async fn login(request: LoginRequest) -> Result<User, LoginPage> {
///     if request.name() == "ada" && request.password() == "correct horse" {
///         Ok(User::new("ada").name("Ada Lovelace"))
///     } else {
///         Err(LoginPage::form().message("Nobody has this name and this password."))
///     }
/// }
///
/// let server = mcp_runtime::server!().auth(
///     AuthorizationServer::new(login)
///         .scope("notes:read", "Read your notes")
///         .scope("notes:write", "Change your notes"),
/// );
/// # let _ = server;
/// ```
///
/// **Issuer.** A server on the loopback interface needs no further configuration: clients find everything from its URL. On other addresses,
/// and inside an application, the server does not start without an [`issuer`](Self::issuer).
///
/// **Supported.** Access tokens are valid for one hour and for this server only. A login ends when its client has not refreshed its tokens
/// for 30 days.
///
/// * Metadata (RFC 8414) and registration of clients (RFC 7591).
/// * Authorization codes with PKCE (S256 only) and exact redirect URIs.
/// * Refresh tokens that change with each use, and revocation (RFC 7009).
/// * Resource indicators (RFC 8707), and `iss` in responses (RFC 9207).
///
/// **Not supported.** No login is remembered. Each authorization asks the user to log in, so that no page can make a browser authorize a
/// client unnoticed. There is no second factor except one that your function asks for. There is no page on which users see what they have
/// granted; [`logins`](Self::logins) has what such a page or tool needs.
pub struct AuthorizationServer {
    core: Arc<Core>,
}

impl AuthorizationServer {
    /// Creates a server whose users are authenticated by this function. It receives what a user has entered, and returns the user or the
    /// page to show again.
    ///
    /// The function has 30 seconds. It runs on the threads that run calls, so long computations such as a slow hash belong in
    /// `tokio::task::spawn_blocking`.
    ///
    /// Five login attempts are allowed for each authorization. From one address, 20 failed attempts are allowed at once and then ten a
    /// minute, for all clients together. Behind a proxy, configure [`trust_proxy`](mcp_runtime::Builder::trust_proxy). Otherwise all users share
    /// the proxy's address.
    pub fn new<F, L>(login: F) -> Self
    where
        F: Fn(LoginRequest) -> L + Send + Sync + 'static,
        L: Future<Output = Result<User, LoginPage>> + Send + 'static,
    {
        Self {
            core: Arc::new(Core::new(Way::Asked {
                login: Judge::new(login),
                page: LoginPage::form(),
            })),
        }
    }

    /// Creates a server whose users are authenticated by an upstream provider.
    ///
    /// The provider's tokens are stored encrypted. They are refreshed together with the access tokens of this server, which expire no
    /// later. A user whom the provider refuses at a refresh is logged out here.
    pub fn delegated(upstream: Upstream) -> Self {
        let provider = Arc::new(Provider::new(upstream));
        Self { core: Arc::new(Core::new(Way::Delegated(provider))) }
    }

    fn change(mut self, change: impl FnOnce(&mut Core)) -> Self {
        // `core` has only one owner until the server is built.
        if let Some(core) = Arc::get_mut(&mut self.core) {
            change(core);
        }
        self
    }

    /// Sets the URL by which clients know this server: `https://notes.example.com`, without a slash at the end.
    ///
    /// The server then accepts this host and its own pages, as if they were set with [`allow_host`](mcp_runtime::Builder::allow_host) and
    /// [`allow_origin`](mcp_runtime::Builder::allow_origin). By default, the issuer is derived from each request, which is allowed on the
    /// loopback interface only.
    #[must_use]
    pub fn issuer(self, url: impl Into<String>) -> Self {
        let url = url.into();
        self.change(|it| it.issuer = Some(url))
    }

    /// Adds a scope that users can grant, with the description that they see. A client that requests no scopes gets all scopes that the
    /// user agrees to.
    #[must_use]
    pub fn scope(self, name: impl Into<String>, words: impl Into<String>) -> Self {
        let scope = Scope { name: name.into(), words: words.into() };
        self.change(|it| it.scopes.push(scope))
    }

    /// Stores clients and grants in this file too, so that logins survive a restart. By default, they are only in memory. Tokens of this
    /// server are stored as digests. Of a user, the file contains what `login` has returned.
    ///
    /// ```no_run
    /// use std::sync::Arc;
    ///
    /// use mcp_runtime::SqliteStore;
    /// use mcp_runtime_authorization_server::AuthorizationServer;
    /// # use mcp_runtime_authorization_server::{LoginPage, LoginRequest, User};
    /// # async fn login(_: LoginRequest) -> Result<User, LoginPage> { Err(LoginPage::form()) }
    ///
    /// let file = Arc::new(SqliteStore::new("notes.db"));
    /// let server = mcp_runtime::server!()
    ///     .auth(AuthorizationServer::new(login).keep_in(file.clone()))
    ///     .task_store(file);
    /// # let _ = server;
    /// ```
    #[cfg(feature = "sqlite")]
    #[must_use]
    pub fn keep_in(self, file: Arc<mcp_runtime::SqliteStore>) -> Self {
        self.core.records.journal.keep_in(file);
        self
    }

    /// Returns a handle to all logins, with which the author lists and ends them, for example after a laptop was stolen or a password was
    /// changed. Call this before the server is built. The handle stays valid afterwards.
    pub fn logins(&self) -> Logins {
        Logins(self.core.records.clone())
    }

    /// Sets the login page that is shown first. Default: [`LoginPage::form`].
    #[must_use]
    pub fn login_page(self, page: LoginPage) -> Self {
        self.change(|it| {
            if let Way::Asked { page: first, .. } = &mut it.way {
                *first = page;
            }
        })
    }

    /// Allows clients to register this redirect URI too, which leads to an application with a scheme of its own, such as
    /// `com.example.app:/callback`.
    ///
    /// Any application on a user's machine can claim any scheme. By default, only `https` URIs and programs that listen on the user's own
    /// machine are allowed.
    #[must_use]
    pub fn allow_redirect(self, uri: impl Into<String>) -> Self {
        let uri = uri.into();
        self.change(|it| it.redirects.push(uri))
    }
}

impl fmt::Debug for AuthorizationServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuthorizationServer")
            .field("issuer", &self.core.issuer)
            .finish_non_exhaustive()
    }
}

impl TokenVerifier for AuthorizationServer {
    async fn verify(&self, token: &str) -> Result<Authorization, Denied> {
        let records = &self.core.records;
        let found = records.grants.verify(token, records.clock.now());
        found.ok_or(Denied::invalid("the token is not good, or no longer"))
    }

    fn problem(&self) -> Option<String> {
        self.core.problem()
    }

    fn may_serve_at(&self, address: Option<IpAddr>) -> Result<(), String> {
        match address {
            Some(address) if address.is_loopback() => Ok(()),
            _ if self.core.issuer.as_deref().is_some_and(|it| it.starts_with("https://")) => Ok(()),
            // The application that mounts the server knows who can reach it.
            None if self.core.issuer.is_some() => Ok(()),
            Some(address) => Err(format!(
                "{address} can be reached from elsewhere, and nobody knows by which name: say `.issuer(\"https://…\")` of the `AuthorizationServer`, or listen on 127.0.0.1"
            )),
            None => Err("nobody knows by which name the application is reached that the server is mounted in: say `.issuer(\"https://…\")` of the \
                 `AuthorizationServer`"
                .to_owned()),
        }
    }

    fn authorization_pages(&self) -> Option<VerifierPages> {
        Some(VerifierPages(self.core.clone()))
    }
}
