//! Shared state of the authorization server, and the routing of its requests.

use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, OnceLock},
};

use http::{Method, StatusCode, header};

use super::{
    address::Address,
    authorize, callback,
    client::Client,
    decide,
    document::Documents,
    grant::Grant,
    grants::Standing,
    login::{Judge, LoginPage},
    metadata::Metadata,
    page,
    provider::Provider,
    records::Records,
    redirect::Redirect,
    refusal::Refusal,
    registration,
    reply::{self, Reply},
    secret::Digest,
    token,
};
use mcp_runtime::{
    __companion::{
        AuthorizationPages, PageRequest, ServedResource, Turnstile, discard, scope_problem,
    },
    Rate,
};

/// Scope that a user can grant, with its description for the user.
pub(crate) struct Scope {
    pub(crate) name: String,
    pub(crate) words: String,
}

/// Method by which users are authenticated.
pub(crate) enum Way {
    /// By the author's function, with a login page of this server.
    Asked { login: Judge, page: LoginPage },
    /// By an upstream provider.
    Delegated(Arc<Provider>),
}

pub(crate) struct Core {
    pub(crate) way: Way,
    pub(crate) issuer: Option<String>,
    pub(crate) scopes: Vec<Scope>,
    pub(crate) redirects: Vec<String>,
    place: OnceLock<ServedResource>,
    documents: Documents,
    pub(crate) records: Arc<Records>,
    /// Rate limit of failed logins, per address.
    pub(crate) logins: Turnstile,
    pub(crate) registrations: Turnstile,
    /// Rate limit of new authorizations, per address. Each one takes memory until the user decides.
    pub(crate) authorizations: Turnstile,
}

impl Core {
    pub(crate) fn new(way: Way) -> Self {
        let provider = match &way {
            Way::Asked { .. } => None,
            Way::Delegated(provider) => Some(provider.clone()),
        };
        Self {
            way,
            issuer: None,
            scopes: Vec::new(),
            redirects: Vec::new(),
            place: OnceLock::new(),
            documents: Documents::new(),
            records: Arc::new(Records::new(provider)),
            logins: Turnstile::new(Rate::per_minute(10).burst(20)),
            registrations: Turnstile::new(Rate::per_minute(10).burst(50)),
            authorizations: Turnstile::new(Rate::per_second(1).burst(60)),
        }
    }

    pub(crate) fn problem(&self) -> Option<String> {
        if let Some(problem) = self.issuer.as_deref().and_then(issuer_problem) {
            return Some(problem);
        }
        if let Some(problem) = self.scopes.iter().find_map(|it| scope_problem(&it.name)) {
            return Some(problem);
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
        match &self.way {
            Way::Asked { page, .. } => page.problem().map(str::to_owned),
            Way::Delegated(provider) => provider.problem(),
        }
    }

    pub(crate) fn provider(&self) -> Option<&Provider> {
        match &self.way {
            Way::Asked { .. } => None,
            Way::Delegated(provider) => Some(provider),
        }
    }

    /// Returns the server's name, as pages show it.
    pub(crate) fn name(&self) -> &str {
        self.place.get().map_or("this server", |it| &it.name)
    }

    /// Returns the issuer's path, empty for the root.
    fn path(&self) -> &str {
        let issuer = self.issuer.as_deref().unwrap_or_default();
        issuer.strip_prefix(self.origin(issuer)).unwrap_or_default()
    }

    /// Returns scheme and host of the issuer, or of `shown` if no issuer is configured.
    pub(crate) fn origin<'a>(&'a self, shown: &'a str) -> &'a str {
        let url = self.issuer.as_deref().unwrap_or(shown);
        let host = url.find("://").map_or(0, |it| it + "://".len());
        url[host..].find('/').map_or(url, |it| &url[..host + it])
    }

    pub(crate) fn issuer(&self, shown: &str) -> String {
        self.issuer.clone().unwrap_or_else(|| shown.to_ascii_lowercase())
    }

    pub(crate) fn has_tls(&self, shown: &str) -> bool {
        self.origin(shown).starts_with("https://")
    }

    pub(crate) fn allows(&self, redirect: &str) -> bool {
        self.redirects.iter().any(|it| it == redirect)
    }

    /// Whether `asked` names this server (RFC 8707, section 2), by the URL of its endpoint or of its HTTP+SSE pair. Grants are stored under
    /// the URL of the endpoint.
    pub(crate) fn is_target(&self, asked: &str, visit: &PageRequest) -> bool {
        let own = [Some(&visit.resource), visit.pair.as_ref()];
        own.into_iter().flatten().any(|own| self.is_resource(asked, own))
    }

    /// Whether two URLs name the same resource.
    pub(crate) fn is_resource(&self, asked: &str, own: &str) -> bool {
        let plain = |it: &str| it.strip_suffix('/').unwrap_or(it).to_ascii_lowercase();
        plain(asked) == plain(own)
    }

    /// Whether a grant for `resource` is valid on this server. A stored grant may have been issued under another URL.
    pub(crate) fn is_own(&self, resource: &str) -> bool {
        let Some(place) = self.place.get() else { return false };
        place.resource.as_deref().is_none_or(|own| self.is_resource(resource, own))
    }

    /// Returns whether a stored grant is valid after a restart.
    fn standing(&self, key: &Digest, grant: &mut Grant) -> Standing {
        if !self.is_own(&grant.resource) {
            // The grant was issued under another URL of this server, or by another server.
            return Standing::Elsewhere;
        }
        let is_backed = match (&mut grant.backing, self.provider()) {
            (None, None) => true,
            (Some(backing), Some(provider)) => provider.restore(backing, key),
            _ => false,
        };
        // The server's provider has changed, or the key of the backing was lost with the process.
        if is_backed { Standing::Good } else { Standing::Lost }
    }

    /// Returns the description of a scope.
    pub(crate) fn words<'a>(&'a self, scope: &'a str) -> &'a str {
        let known = self.scopes.iter().find(|it| it.name == scope);
        known.map_or(scope, |it| &it.words)
    }

    /// Returns the requested scopes that this server has. A request without `scope` gets all scopes.
    ///
    /// # Errors
    /// Fails if the server has none of the requested scopes.
    pub(crate) fn wanted(&self, asked: Option<&str>) -> Result<Vec<String>, Refusal> {
        let names = || self.scopes.iter().map(|it| it.name.clone());
        let Some(asked) = asked else { return Ok(names().collect()) };
        let asked: Vec<_> = asked.split(' ').filter(|it| !it.is_empty()).collect();
        let wanted: Vec<_> = names().filter(|it| asked.contains(&&**it)).collect();
        // `offline_access` is ignored, because the client's metadata decides whether it gets refresh tokens.
        let is_for_more = asked.iter().any(|it| *it != "offline_access");
        match wanted.is_empty() && !self.scopes.is_empty() {
            true if is_for_more => Err(Refusal::scope("this server has none of these scopes")),
            true => Ok(names().collect()),
            false => Ok(wanted),
        }
    }

    /// Returns the client with this id.
    ///
    /// # Errors
    /// Fails if there is no such client.
    pub(crate) async fn client(
        &self,
        id: &str,
        visit: &PageRequest,
    ) -> Result<Arc<Client>, Refusal> {
        if Documents::is_id(id) {
            return self.documents.find(id, self, visit).await;
        }
        let found = self.records.clients.find(id, self.records.clock.now());
        found.ok_or_else(|| Refusal::client("nobody here knows the application that sent you, or no longer: remove this server there, and add it again"))
    }

    async fn answered(&self, visit: &PageRequest) -> Reply {
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
            (Some(Address::Callback), false) => match self.provider() {
                Some(provider) => Ok(callback::answer(self, visit, provider).await),
                None => return reply::empty(StatusCode::NOT_FOUND),
            },
            (Some(Address::Metadata | Address::Callback), true) => {
                return reply::not_allowed("GET");
            }
            (_, _) => return reply::not_allowed("POST"),
        };
        answered.unwrap_or_else(|refusal| reply::refused(&refusal, &parts.headers))
    }

    fn metadata(&self, visit: &PageRequest) -> Reply {
        let issuer = self.issuer(&visit.origin);
        let scopes = self.scopes.iter().map(|it| &*it.name);
        let mut reply = reply::json(StatusCode::OK, &Metadata::new(&issuer, scopes));
        reply.headers_mut().remove(header::CACHE_CONTROL);
        reply
    }
}

impl AuthorizationPages for Core {
    fn is_here(&self, path: &str) -> bool {
        Address::of(path, self.path()).is_some()
    }

    fn is_for_scripts(&self, path: &str) -> bool {
        let address = Address::of(path, self.path());
        !matches!(address, Some(Address::Authorize | Address::Callback))
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

    fn open(
        &self,
        place: ServedResource,
    ) -> Pin<Box<dyn Future<Output = Result<(), String>> + Send + '_>> {
        // A server opens its pages once, so the cells below are still empty.
        if place.bound.is_some_and(|it| it.is_loopback()) {
            self.documents.listen_on_loopback();
        }
        self.records.counts.are(place.tally.clone());
        let _ = self.place.set(place);
        Box::pin(async {
            let records = &self.records;
            records.load().await?;
            records.grants.wake(|key, grant| self.standing(key, grant), &records.journal);
            Ok(())
        })
    }

    fn answer(self: Arc<Self>, visit: PageRequest) -> Pin<Box<dyn Future<Output = Reply> + Send>> {
        Box::pin(async move {
            // The request runs in its own task. If the client or browser disconnects, tokens that the upstream provider has already issued
            // are not lost. If the author's function panics, only this response fails.
            let (core, parts) = (self.clone(), visit.parts.clone());
            let answered = tokio::spawn(async move { core.answered(&visit).await });
            answered.await.unwrap_or_else(|why| {
                let refusal = Refusal::broken("this cannot be answered", &why);
                // The error holds the payload of the panic, whose `Drop` is the author's code.
                discard(why);
                match Address::of(parts.uri.path(), self.path()) {
                    Some(Address::Authorize) => page::problem(&self, &refusal),
                    _ => reply::refused(&refusal, &parts.headers),
                }
            })
        })
    }
}

/// Returns why this URL cannot be the issuer.
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
