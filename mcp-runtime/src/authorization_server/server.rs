use std::{fmt, future::Future, net::IpAddr, sync::Arc};

use super::{
    core::{Core, Scope, Way},
    login::{Judge, LoginPage, LoginRequest},
    logins::Logins,
    provider::Provider,
    upstream::Upstream,
    user::User,
};
use crate::{
    auth::{Beside, Denied, TokenVerifier},
    context::Authorization,
};

/// An OAuth 2.1 authorization server inside of the MCP server whose tokens it gives out, for development and for single nodes:
/// [`Builder::auth`](crate::Builder::auth).
///
/// The author says who somebody is; registration of clients, pages, codes and tokens are the framework's work.
///
/// ```
/// use mcp_runtime::{AuthorizationServer, LoginPage, LoginRequest, User};
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
/// **Where.** On the loopback interface nothing else has to be said: clients find all they need from the server's URL. Anywhere else, and
/// inside an application, the server does not start without an [`issuer`](Self::issuer).
///
/// **What it does.** Metadata (RFC 8414), registration (RFC 7591), authorization codes with PKCE (S256 only) and exact redirect URIs,
/// refresh tokens that change with each use, revocation (RFC 7009), resource indicators (RFC 8707) and `iss` in its answers (RFC 9207).
/// Access tokens are good for an hour and for this server alone, and users stay signed in for 30 days after a client was last there.
///
/// **What it does not do.** No login is remembered: each authorization asks who somebody is, so that no page can make a browser authorize
/// anything on the quiet. There is no second factor but the one the author asks for, and no page on which users see what they have granted: what such a page
/// or tool needs is in [`logins`](Self::logins).
pub struct AuthorizationServer {
    core: Arc<Core>,
}

impl AuthorizationServer {
    /// One whose users this function knows: it gets what somebody has entered and says who that is, or shows the page again.
    ///
    /// It may take 30 seconds, but it runs where calls do: what computes for long, such as the check of a slow hash, belongs into
    /// `tokio::task::spawn_blocking`. Somebody may try five times for each authorization, and from one address twenty times at once and then
    /// ten times a minute, all clients together. Behind a
    /// proxy the server must be told to believe it ([`trust_proxy`](crate::Builder::trust_proxy)), or all addresses are the proxy's.
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

    /// One whose users another provider knows. What that one gives is kept sealed, and ours ends no later: it is refreshed with ours,
    /// and a user who is refused there is logged out here.
    pub fn delegated(upstream: Upstream) -> Self {
        let provider = Arc::new(Provider::new(upstream));
        Self { core: Arc::new(Core::new(Way::Delegated(provider))) }
    }

    fn change(mut self, change: impl FnOnce(&mut Core)) -> Self {
        // Nobody else has it before the server is built.
        if let Some(core) = Arc::get_mut(&mut self.core) {
            change(core);
        }
        self
    }

    /// What clients call it: `https://notes.example.com`, without a slash at the end. The server answers to that host and to its pages
    /// then, as if [`allow_host`](crate::Builder::allow_host) and [`allow_origin`](crate::Builder::allow_origin) said so. Unless said it
    /// is what a request shows, on the loopback interface only.
    #[must_use]
    pub fn issuer(self, url: impl Into<String>) -> Self {
        let url = url.into();
        self.change(|it| it.issuer = Some(url))
    }

    /// Something that may be granted, with the words in which a user is asked. Clients that ask for nothing are granted all of
    /// them, as far as the user wants.
    #[must_use]
    pub fn scope(self, name: impl Into<String>, words: impl Into<String>) -> Self {
        let scope = Scope { name: name.into(), words: words.into() };
        self.change(|it| it.scopes.push(scope))
    }

    /// Keeps clients and what users have granted in this file too, so that a restart logs nobody out. Without, they are in memory. Of
    /// tokens only digests are kept; of users what `login` has said of them.
    ///
    /// ```no_run
    /// use std::sync::Arc;
    ///
    /// use mcp_runtime::{AuthorizationServer, SqliteTasks};
    /// # use mcp_runtime::{LoginPage, LoginRequest, User};
    /// # async fn login(_: LoginRequest) -> Result<User, LoginPage> { Err(LoginPage::form()) }
    ///
    /// let file = Arc::new(SqliteTasks::new("notes.db"));
    /// let server = mcp_runtime::server!()
    ///     .auth(AuthorizationServer::new(login).keep_in(file.clone()))
    ///     .task_store(file);
    /// # let _ = server;
    /// ```
    #[cfg(feature = "sqlite")]
    #[must_use]
    pub fn keep_in(self, file: Arc<crate::store::SqliteTasks>) -> Self {
        self.core.records.journal.keep_in(file);
        self
    }

    /// All that users have granted, for the author to see and to end: "my laptop was stolen", "the password was changed", an account that is
    /// deleted. Asked for before the server is built, it goes on to be good for as long as there is one.
    pub fn logins(&self) -> Logins {
        Logins(self.core.records.clone())
    }

    /// The page that is shown first, in place of the framework's own.
    #[must_use]
    pub fn login_page(self, page: LoginPage) -> Self {
        self.change(|it| {
            if let Way::Asked { page: first, .. } = &mut it.way {
                *first = page;
            }
        })
    }

    /// Lets clients register this address too, which leads to an application that has the scheme for itself, such as
    /// `com.example.app:/callback`. Any application on a user's machine can claim any scheme; unless said, only `https` and programs that
    /// listen on the user's own machine are let in.
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
            // Whoever mounts it knows who gets there.
            None if self.core.issuer.is_some() => Ok(()),
            Some(address) => Err(format!(
                "{address} can be reached from elsewhere, and nobody knows by which name: say `.issuer(\"https://…\")` of the `AuthorizationServer`, or listen on 127.0.0.1"
            )),
            None => Err("nobody knows by which name the application is reached that the server is mounted in: say `.issuer(\"https://…\")` of the \
                 `AuthorizationServer`"
                .to_owned()),
        }
    }

    fn beside(&self) -> Option<Beside> {
        Some(Beside(self.core.clone()))
    }
}
