use std::{
    fmt,
    future::Future,
    net::IpAddr,
    pin::Pin,
    sync::{Arc, OnceLock},
    time::Duration,
};

use http::{Method, header};

use super::{
    address::Address,
    authorize,
    client::{Client, Clients},
    clock::Clock,
    codes::Codes,
    decide,
    grants::Grants,
    guard::Guard,
    journal::Journal,
    login::{Login, LoginPage, LoginRequest},
    metadata::Metadata,
    redirect::Redirect,
    refusal::Refusal,
    registration,
    reply::{self, Reply},
    token,
    user::User,
    waiting::Waiting,
};
use crate::{
    auth::{Beside, Denied, Pages, Place, TokenVerifier, Visit, is_scope},
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
/// anything on the quiet. There is no second factor but the one the author asks for, and no page on which users see what they have granted.
pub struct AuthorizationServer {
    core: Arc<Core>,
}

/// What somebody may be granted.
struct Scope {
    name: String,
    words: String,
}

pub(super) struct Core {
    pub(super) login: Login,
    pub(super) login_page: LoginPage,
    issuer: Option<String>,
    scopes: Vec<Scope>,
    redirects: Vec<String>,
    place: OnceLock<Place>,
    pub(super) clock: Clock,
    pub(super) clients: Clients,
    pub(super) waiting: Waiting,
    pub(super) codes: Codes,
    pub(super) grants: Grants,
    pub(super) journal: Arc<Journal>,
    /// Times somebody could not be logged in.
    pub(super) logins: Guard,
    pub(super) registrations: Guard,
}

impl AuthorizationServer {
    /// One whose users this function knows: it gets what somebody has entered and says who that is, or shows the page again.
    ///
    /// It may take 30 seconds. Somebody may try five times for each authorization, and from one address twenty times at once and then
    /// ten times a minute, all clients together.
    pub fn new<F, L>(login: F) -> Self
    where
        F: Fn(LoginRequest) -> L + Send + Sync + 'static,
        L: Future<Output = Result<User, LoginPage>> + Send + 'static,
    {
        let core = Core {
            login: Login::new(login),
            login_page: LoginPage::form(),
            issuer: None,
            scopes: Vec::new(),
            redirects: Vec::new(),
            place: OnceLock::new(),
            clock: Clock::new(),
            clients: Clients::default(),
            waiting: Waiting::default(),
            codes: Codes::default(),
            grants: Grants::default(),
            journal: Arc::default(),
            logins: Guard::new(20, Duration::from_secs(6)),
            registrations: Guard::new(50, Duration::from_secs(6)),
        };
        Self { core: Arc::new(core) }
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

    /// The page that is shown first, in place of the framework's own.
    #[must_use]
    pub fn login_page(self, page: LoginPage) -> Self {
        self.change(|it| it.login_page = page)
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
        let core = &self.core;
        let found = core.grants.verify(token, core.clock.now());
        let found = found.filter(|it| core.is_own(&it.1));
        found.map(|it| it.0).ok_or(Denied::invalid("the token is not good, or no longer"))
    }

    fn problem(&self) -> Option<String> {
        self.core.problem()
    }

    fn may_serve_at(&self, address: Option<IpAddr>) -> Result<(), String> {
        match address {
            _ if self.core.issuer.is_some() => Ok(()),
            Some(address) if address.is_loopback() => Ok(()),
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

impl Core {
    fn problem(&self) -> Option<String> {
        if let Some(problem) = self.issuer.as_deref().and_then(issuer_problem) {
            return Some(problem);
        }
        if let Some(scope) = self.scopes.iter().find(|it| !is_scope(&it.name)) {
            let name = &scope.name;
            return Some(format!(
                "`{name}` is no scope: letters of ASCII without blanks, `\"` and `\\`"
            ));
        }
        let twice =
            |(at, it): (usize, &Scope)| self.scopes[..at].iter().any(|other| other.name == it.name);
        if self.scopes.iter().enumerate().any(twice) {
            return Some("a scope is there twice".to_owned());
        }
        let is_private = |it: &&String| matches!(Redirect::parse(it), Ok(Redirect::Private { .. }));
        if let Some(other) = self.redirects.iter().find(|it| !is_private(it)) {
            return Some(format!(
                "`{other}` is no address of an application with a scheme of its own, such as `com.example.app:/callback`"
            ));
        }
        self.login_page.problem().map(str::to_owned)
    }

    /// What people are shown as the server's name.
    pub(super) fn name(&self) -> &str {
        self.place.get().map_or("this server", |it| &it.name)
    }

    /// The issuer's path, empty for the root.
    fn path(&self) -> &str {
        let issuer = self.issuer.as_deref().unwrap_or_default();
        issuer.strip_prefix(self.origin(issuer)).unwrap_or_default()
    }

    /// Scheme and host of the issuer.
    pub(super) fn origin<'a>(&'a self, shown: &'a str) -> &'a str {
        let url = self.issuer.as_deref().unwrap_or(shown);
        let host = url.find("://").map_or(0, |it| it + "://".len());
        url[host..].find('/').map_or(url, |it| &url[..host + it])
    }

    pub(super) fn issuer(&self, shown: &str) -> String {
        self.issuer.clone().unwrap_or_else(|| shown.to_ascii_lowercase())
    }

    pub(super) fn has_tls(&self, shown: &str) -> bool {
        self.origin(shown).starts_with("https://")
    }

    pub(super) fn allows(&self, redirect: &str) -> bool {
        self.redirects.iter().any(|it| it == redirect)
    }

    /// Whether a client means this server (RFC 8707, section 2).
    pub(super) fn is_resource(&self, asked: &str, own: &str) -> bool {
        let plain = |it: &str| it.strip_suffix('/').unwrap_or(it).to_ascii_lowercase();
        plain(asked) == plain(own)
    }

    /// Whether a token that was given for this resource is good here: what is kept may have been given out under another name.
    fn is_own(&self, resource: &str) -> bool {
        let Some(place) = self.place.get() else { return false };
        match Pages::resource(self, &place.path) {
            Some(own) => self.is_resource(resource, &own),
            None => true,
        }
    }

    /// The words of a scope.
    pub(super) fn words<'a>(&'a self, scope: &'a str) -> &'a str {
        let known = self.scopes.iter().find(|it| it.name == scope);
        known.map_or(scope, |it| &it.words)
    }

    /// What is asked for, as far as there is such a thing: all where nothing is.
    ///
    /// # Errors
    /// When there is nothing of what is asked for.
    pub(super) fn wanted(&self, asked: Option<&str>) -> Result<Vec<String>, Refusal> {
        let names = || self.scopes.iter().map(|it| it.name.clone());
        let Some(asked) = asked else { return Ok(names().collect()) };
        let asked: Vec<_> = asked.split(' ').filter(|it| !it.is_empty()).collect();
        let wanted: Vec<_> = names().filter(|it| asked.contains(&&**it)).collect();
        // Whether a client stays signed in is not for the user to grant here.
        let is_for_more = asked.iter().any(|it| *it != "offline_access");
        match wanted.is_empty() && !self.scopes.is_empty() {
            true if is_for_more => Err(Refusal::scope("this server has none of these scopes")),
            true => Ok(names().collect()),
            false => Ok(wanted),
        }
    }

    /// The client with this id.
    ///
    /// # Errors
    /// When there is none.
    pub(super) async fn client(&self, id: &str) -> Result<Arc<Client>, Refusal> {
        let found = self.clients.find(id, self.clock.now());
        found.ok_or_else(|| Refusal::client("nobody here knows the application that sent you"))
    }

    async fn answered(&self, visit: &Visit) -> Reply {
        let parts = &visit.parts;
        let address = Address::of(parts.uri.path(), self.path());
        let is_post = parts.method == Method::POST;
        let answered = match (address, is_post) {
            (Some(Address::Metadata), false) => Ok(self.metadata(visit)),
            (Some(Address::Authorize), false) => Ok(authorize::begin(self, visit).await),
            (Some(Address::Authorize), true) => Ok(decide::answer(self, visit).await),
            (Some(Address::Token), true) => token::answer(self, visit).await,
            (Some(Address::Register), true) => registration::answer(self, visit).await,
            (Some(Address::Revoke), true) => token::revoke(self, visit).await,
            (Some(Address::Metadata), true) => return reply::not_allowed("GET"),
            (_, _) => return reply::not_allowed("POST"),
        };
        answered.unwrap_or_else(|refusal| reply::refused(&refusal, &parts.headers))
    }

    fn metadata(&self, visit: &Visit) -> Reply {
        let issuer = self.issuer(&visit.origin);
        let scopes = self.scopes.iter().map(|it| &*it.name);
        let mut reply = reply::json(http::StatusCode::OK, &Metadata::new(&issuer, scopes));
        reply.headers_mut().remove(header::CACHE_CONTROL);
        reply
    }
}

impl Pages for Core {
    fn is_here(&self, path: &str) -> bool {
        Address::of(path, self.path()).is_some()
    }

    fn is_for_scripts(&self, path: &str) -> bool {
        Address::of(path, self.path()) != Some(Address::Authorize)
    }

    fn paths(&self) -> Vec<String> {
        Address::paths(self.path())
    }

    fn issuer(&self, origin: &str) -> String {
        self.issuer(origin)
    }

    fn own_origin(&self) -> Option<&str> {
        self.issuer.as_deref().map(|it| self.origin(it))
    }

    fn resource(&self, path: &str) -> Option<String> {
        let issuer = self.issuer.as_deref()?;
        Some(format!("{issuer}{}", if path == "/" { "" } else { path }))
    }

    fn scopes(&self) -> Vec<String> {
        self.scopes.iter().map(|it| it.name.clone()).collect()
    }

    fn open(&self, place: Place) -> Pin<Box<dyn Future<Output = Result<(), String>> + Send + '_>> {
        // Of a server that is built once there is one.
        let _ = self.place.set(place);
        Box::pin(std::future::ready(Ok(())))
    }

    fn answer(self: Arc<Self>, visit: Visit) -> Pin<Box<dyn Future<Output = Reply> + Send>> {
        Box::pin(async move { self.answered(&visit).await })
    }
}

/// Why this cannot be what clients call the server.
fn issuer_problem(issuer: &str) -> Option<String> {
    let wrong = |why: &str| Some(format!("the issuer `{issuer}` {why}"));
    if issuer.ends_with('/') {
        return wrong("ends with `/`, which clients would have to write too");
    }
    if issuer.contains(['?', '#']) {
        return wrong("has a query or a fragment, which no issuer has");
    }
    match Redirect::parse(issuer) {
        Ok(Redirect::Site { .. } | Redirect::Loopback { .. }) => None,
        _ => wrong(
            "is no `https://` URL, in small letters; `http://` is for `localhost` and loopback addresses only",
        ),
    }
}
