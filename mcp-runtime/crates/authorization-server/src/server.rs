//! [`AuthorizationServer`], which the author of an MCP server configures, and the routing of requests to the endpoints.

use std::{fmt, future::Future, net::IpAddr, pin::Pin, sync::Arc};

use http::{Method, StatusCode, header};
use mcp_runtime::{
    __companion::{AuthorizationPages, PageRequest, ServedResource, VerifierPages, discard},
    auth::{Authorization, Denied, TokenVerifier},
};

use crate::{
    authorize, decide,
    login::{LoginFunction, LoginFuture, LoginPage, LoginRequest},
    logins::Logins,
    metadata::{Endpoint, ServerMetadata},
    oauth_error::OAuthError,
    page,
    provider::Provider,
    registration,
    response::{self, Reply},
    state::{LoginMethod, OfferedScope, ServerState},
    token,
    upstream::Upstream,
};

/// OAuth 2.1 authorization server inside the MCP server that accepts its tokens.
///
/// Pass it to [`Builder::auth`](mcp_runtime::Builder::auth). Your function authenticates users. The framework registers clients, shows the
/// pages, and issues codes and tokens.
///
/// Use it for development, and for servers that run as a single process or as several processes with a shared store. If your users have
/// accounts at an OpenID provider, use [`delegated`](Self::delegated). If another authorization server issues the tokens, use
/// [`Jwt`](mcp_runtime::auth::Jwt) instead.
///
/// ```
/// use mcp_runtime_authorization_server::{
///     AuthorizationServer, LoginPage, LoginRequest, User,
/// };
///
/// async fn login(request: LoginRequest) -> Result<User, LoginPage> {
///     if request.name() == "ada" && request.password() == "correct horse" {
///         Ok(User::new("ada").name("Ada Lovelace"))
///     } else {
///         Err(LoginPage::form().message("No user has this name and this password."))
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
/// **Issuer.** A server that listens on the loopback interface needs no issuer. A server on another address does not start without an
/// [`issuer`](Self::issuer) that is an `https` URL. A server that is mounted in an application needs an issuer too.
///
/// **Supported.** The server implements these parts of OAuth:
///
/// * Metadata (RFC 8414) and registration of clients (RFC 7591).
/// * Authorization codes with PKCE (S256 only) and exact redirect URIs.
/// * Refresh tokens that change with each use, and revocation (RFC 7009).
/// * Resource indicators (RFC 8707), and `iss` in responses (RFC 9207).
///
/// **Not supported.** The browser gets no session. Each authorization asks the user to log in, so that no web page can make a browser
/// authorize a client unnoticed. There is no second factor, unless your function asks for one. There is no page on which users see their
/// grants. To build such a page or tool, use [`logins`](Self::logins).
///
/// **Limits.** These values are fixed:
///
/// | limit | value |
/// |---|---|
/// | lifetime of an access token, which is valid for this server only | 1 hour |
/// | lifetime of a login whose client does not refresh its tokens | 30 days |
/// | lifetime of an authorization code | 60 seconds |
/// | time for the user to log in and to decide | 10 minutes, and 10 more at an upstream provider |
/// | login attempts for one authorization | 5 |
/// | failed login attempts from one address | 10 a minute, or 20 at once after a pause |
/// | authorizations that one address may start | 1 a second, or 60 at once after a pause |
/// | clients that one address may register | 10 a minute, or 50 at once after a pause |
/// | logins | 128 for each user, 20,000 in all |
/// | registered clients | 10,000 |
/// | lifetime of a registered client | 7 days before its first use, 90 days after its last use |
///
/// **Several nodes.** If several processes share a [store](mcp_runtime::Builder::store), they act as one authorization server: a client that
/// registers at one node is known to all of them, and each step of a login may reach another node. Give all nodes the same settings.
///
/// * A node trusts an access token for at most 1 second after it has verified the token. Then it reads the record of the login again. A
///   login that ends at one node is therefore over at the others within a second. Open streams of the login end at once on all nodes.
/// * The limits for one address count once for all nodes. Failed login attempts are limited to 20 in 2 minutes. Of the limits for all
///   addresses together, two apply: about 10,000 clients, and 4,096 authorizations that wait for their users. The number of logins is
///   limited for each user only.
/// * While the store is unavailable, the pages and endpoints answer with status 503, `Retry-After` and the error `temporarily_unavailable`.
///   Calls get status 503 too.
/// * Lifetimes of minutes and less end by the clock of the store. For those of hours and days, each node uses its own clock, so the clocks of
///   the nodes should agree within a minute.
///
/// Behind a proxy, configure [`trust_proxy`](mcp_runtime::Builder::trust_proxy). Otherwise all users share the address of the proxy, and
/// with it the limits of one address.
///
/// Specification: Base protocol, Authorization.
pub struct AuthorizationServer {
    state: Arc<ServerState>,
}

impl AuthorizationServer {
    /// Creates a server that authenticates users with this function.
    ///
    /// The function receives the fields that a user has entered. It returns the user, or the login page to show again.
    ///
    /// The login fails if the function panics, or does not return within 30 seconds. The function runs on the same threads as calls, so
    /// long computations such as a slow hash belong in `tokio::task::spawn_blocking`.
    ///
    /// The function runs once for each attempt. A closure that owns a value, such as a table of users, therefore clones the value for each
    /// `async` block:
    ///
    /// ```
    /// use std::{collections::HashMap, sync::Arc};
    ///
    /// use mcp_runtime_authorization_server::{
    ///     AuthorizationServer, LoginPage, LoginRequest, User,
    /// };
    ///
    /// let keys = Arc::new(HashMap::from([("ada".to_owned(), "correct horse".to_owned())]));
    /// let server = AuthorizationServer::new(move |request: LoginRequest| {
    ///     let keys = keys.clone();
    ///     async move {
    ///         let key = keys.get(request.name()).ok_or_else(LoginPage::form)?;
    ///         if key == request.password() {
    ///             Ok(User::new(request.name()))
    ///         } else {
    ///             Err(LoginPage::form())
    ///         }
    ///     }
    /// });
    /// # let _ = server;
    /// ```
    pub fn new<F, L>(login: F) -> Self
    where
        F: Fn(LoginRequest) -> L + Send + Sync + 'static,
        L: LoginFuture + Send + 'static,
    {
        Self {
            state: Arc::new(ServerState::new(LoginMethod::Local {
                login: LoginFunction::new(login),
                page: LoginPage::form(),
            })),
        }
    }

    /// Creates a server whose users log in at an upstream provider. For an example, see [`Upstream`].
    ///
    /// The server stores the provider's tokens encrypted, and refreshes them whenever a client refreshes its own tokens. An access token of
    /// this server expires no later than that of the provider. If the provider rejects a refresh, the login ends. If the provider issues no
    /// refresh token, the login ends when the provider's access token expires.
    pub fn delegated(upstream: Upstream) -> Self {
        let provider = Arc::new(Provider::new(upstream));
        Self { state: Arc::new(ServerState::new(LoginMethod::Delegated(provider))) }
    }

    fn change(mut self, change: impl FnOnce(&mut ServerState)) -> Self {
        // `state` has only one owner until the server is built.
        if let Some(state) = Arc::get_mut(&mut self.state) {
            change(state);
        }
        self
    }

    /// Sets the URL by which clients know this server: `https://notes.example.com`, without a slash at the end.
    ///
    /// The URL must be `https`, or `http` with `localhost` or a loopback address. A server with any other issuer does not build. By
    /// default, the issuer is derived from each request, which is allowed on the loopback interface only.
    ///
    /// The server then accepts requests for this host and from pages of this origin. It needs no
    /// [`allow_host`](mcp_runtime::Builder::allow_host) or [`allow_origin`](mcp_runtime::Builder::allow_origin) for them.
    #[must_use]
    pub fn issuer(self, url: impl Into<String>) -> Self {
        let url = url.into();
        self.change(|state| state.issuer = Some(url))
    }

    /// Adds a scope that users can grant, with the description that the consent page shows.
    ///
    /// If a client requests no scopes, the consent page offers all of them. To require a scope for an item, write
    /// `#[tool(scopes("notes:read"))]`. A server that adds a scope twice, or a scope with an invalid name, does not build.
    #[must_use]
    pub fn scope(self, name: impl Into<String>, description: impl Into<String>) -> Self {
        let scope = OfferedScope { name: name.into(), description: description.into() };
        self.change(|state| state.scopes.push(scope))
    }

    /// Returns a handle that lists and ends logins, for example after a laptop was stolen or a password was changed.
    ///
    /// Call this before you pass the authorization server to [`Builder::auth`](mcp_runtime::Builder::auth). For an example, see [`Logins`].
    pub fn logins(&self) -> Logins {
        Logins(self.state.records.clone())
    }

    /// Sets the login page that the user sees first. Default: [`LoginPage::form`].
    ///
    /// This has no effect with an upstream provider ([`delegated`](Self::delegated)).
    #[must_use]
    pub fn login_page(self, page: LoginPage) -> Self {
        self.change(|state| {
            if let LoginMethod::Local { page: first, .. } = &mut state.login_method {
                *first = page;
            }
        })
    }

    /// Requires all clients to register, on a machine that has no access to the internet.
    ///
    /// By default, a client may also be identified by the URL of its metadata, which this server then fetches
    /// (draft-ietf-oauth-client-id-metadata-document). The server announces this, and many clients prefer it to a registration. If the server
    /// cannot fetch the metadata, the login ends at an error page, and the log has the reason. The environment variable
    /// `MCP_CLIENT_DOCUMENTS=off` has the same effect as this method.
    #[must_use]
    pub fn without_client_documents(self) -> Self {
        self.change(|state| state.documents.turn_off())
    }

    /// Also allows clients to register this redirect URI, which has the private scheme of an application: `com.example.app:/callback`.
    ///
    /// By default, clients may register only `https` URIs and `http` URIs of programs that listen on the user's own machine. Private
    /// schemes are less safe, because any application on a user's machine can claim any scheme.
    #[must_use]
    pub fn allow_redirect(self, uri: impl Into<String>) -> Self {
        let uri = uri.into();
        self.change(|state| state.private_redirects.push(uri))
    }
}

impl fmt::Debug for AuthorizationServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuthorizationServer")
            .field("issuer", &self.state.issuer)
            .finish_non_exhaustive()
    }
}

impl TokenVerifier for AuthorizationServer {
    async fn verify(&self, token: &str) -> Result<Authorization, Denied> {
        self.state.verify(token).await
    }

    fn problem(&self) -> Option<String> {
        self.state.problem()
    }

    fn may_serve_at(&self, address: Option<IpAddr>) -> Result<(), String> {
        match address {
            Some(address) if address.is_loopback() => Ok(()),
            _ if self.state.issuer.as_deref().is_some_and(|url| url.starts_with("https://")) => Ok(()),
            // The application that mounts the server controls who can reach it, so the issuer need not be an `https` URL.
            None if self.state.issuer.is_some() => Ok(()),
            Some(address) => Err(format!(
                "{address} can be reached from other machines, so the `AuthorizationServer` needs its public URL: set it with `.issuer(\"https://…\")`, or listen on 127.0.0.1"
            )),
            None => Err("the server is mounted in an application, so the `AuthorizationServer` needs its public URL: \
                 set it with `.issuer(\"https://…\")`"
                .to_owned()),
        }
    }

    fn authorization_pages(&self) -> Option<VerifierPages> {
        Some(VerifierPages(self.state.clone()))
    }
}

impl AuthorizationPages for ServerState {
    fn is_here(&self, path: &str) -> bool {
        Endpoint::of(path, self.path()).is_some()
    }

    fn is_for_scripts(&self, path: &str) -> bool {
        let endpoint = Endpoint::of(path, self.path());
        !matches!(endpoint, Some(Endpoint::Authorize | Endpoint::Callback))
    }

    fn paths(&self) -> Vec<String> {
        Endpoint::paths(self.path())
    }

    fn issuer(&self, origin: &str) -> String {
        self.issuer(origin)
    }

    fn own_origin(&self) -> Option<&str> {
        self.issuer.as_deref().map(|url| self.origin(url))
    }

    fn resource(&self, path: &str) -> Option<String> {
        let issuer = self.issuer.as_deref()?;
        Some(format!("{issuer}{}", if path == "/" { "" } else { path }))
    }

    fn scopes(&self) -> Vec<String> {
        self.scopes.iter().map(|scope| scope.name.clone()).collect()
    }

    fn open(
        &self,
        served: ServedResource,
    ) -> Pin<Box<dyn Future<Output = Result<(), String>> + Send + '_>> {
        self.start(served);
        Box::pin(self.load())
    }

    fn answer(
        self: Arc<Self>,
        request: PageRequest,
    ) -> Pin<Box<dyn Future<Output = Reply> + Send>> {
        Box::pin(async move {
            // The request runs in its own tokio task, so that it completes even if the client or the browser disconnects. Otherwise, tokens
            // that the upstream provider has already issued would be lost. The tokio task also catches a panic of the author's function.
            let (server, parts) = (self.clone(), request.parts.clone());
            let answered = tokio::spawn(async move { route(&server, &request).await });
            answered.await.unwrap_or_else(|why| {
                let refusal = OAuthError::server_error("the request cannot be answered", &why);
                // The error contains the payload of the panic, whose type the author may have defined. `discard` catches a panic in its
                // `Drop`.
                discard(why);
                match Endpoint::of(parts.uri.path(), self.path()) {
                    Some(Endpoint::Authorize | Endpoint::Callback) => {
                        page::problem(&self, &refusal)
                    }
                    _ => response::refused(&refusal, &parts.headers),
                }
            })
        })
    }
}

/// Passes a request on to the handler of its endpoint.
async fn route(server: &ServerState, request: &PageRequest) -> Reply {
    let parts = &request.parts;
    let endpoint = Endpoint::of(parts.uri.path(), server.path());
    let is_post = parts.method == Method::POST;
    let answered = match (endpoint, is_post) {
        (Some(Endpoint::Metadata), false) => Ok(metadata(server, request)),
        (Some(Endpoint::Authorize), false) => Ok(authorize::begin(server, request).await),
        (Some(Endpoint::Authorize), true) => Ok(decide::answer(server, request).await),
        (Some(Endpoint::Token), true) => token::answer(server, request).await,
        (Some(Endpoint::Register), true) => registration::answer(server, request).await,
        (Some(Endpoint::Revoke), true) => token::revoke(server, request).await,
        (Some(Endpoint::Callback), false) => match server.provider() {
            Some(provider) => Ok(decide::answer_callback(server, request, provider).await),
            None => return response::empty(StatusCode::NOT_FOUND),
        },
        (Some(Endpoint::Metadata | Endpoint::Callback), true) => {
            return response::not_allowed("GET");
        }
        (_, _) => return response::not_allowed("POST"),
    };
    answered.unwrap_or_else(|refusal| response::refused(&refusal, &parts.headers))
}

fn metadata(server: &ServerState, request: &PageRequest) -> Reply {
    let issuer = server.issuer(&request.origin);
    let scopes = server.scopes.iter().map(|scope| &*scope.name);
    let document = ServerMetadata::new(&issuer, scopes, server.documents.is_on());
    let mut response = response::json(StatusCode::OK, &document);
    response.headers_mut().remove(header::CACHE_CONTROL);
    response
}
