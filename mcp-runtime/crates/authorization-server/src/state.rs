//! State of the authorization server: its settings, its limits, and the records that its handlers share with the handle
//! [`Logins`](crate::Logins).

use std::sync::{Arc, OnceLock};

use mcp_runtime::{
    __companion::{PageRequest, RateLimiter, ServedResource, scope_problem},
    auth::{Authorization, Denied},
    limits::Rate,
};

use crate::{
    client::{Client, ClientDocuments, is_metadata_url},
    grant::{Grant, Standing},
    login::{LoginFunction, LoginPage},
    nodes::{CallerRate, CountedAttempt},
    oauth_error::OAuthError,
    provider::Provider,
    records::Records,
    redirect_uri::RedirectUri,
    secret::Digest,
};

/// Scope that a user can grant, with its description for the user.
pub(crate) struct OfferedScope {
    pub(crate) name: String,
    pub(crate) description: String,
}

/// Method by which users are authenticated.
pub(crate) enum LoginMethod {
    /// By the author's function, with a login page of this server.
    Local { login: LoginFunction, page: LoginPage },
    /// By an upstream provider.
    Delegated(Arc<Provider>),
}

/// Settings and state of an authorization server.
pub(crate) struct ServerState {
    pub(crate) login_method: LoginMethod,
    pub(crate) issuer: Option<String>,
    pub(crate) scopes: Vec<OfferedScope>,
    /// Redirect URIs with private schemes that the author allows.
    pub(crate) private_redirects: Vec<String>,
    /// The protected resource, set when the server starts.
    served: OnceLock<ServedResource>,
    pub(crate) documents: ClientDocuments,
    pub(crate) records: Arc<Records>,
    /// Rate limit of failed logins, per address.
    login_attempts: RateLimiter,
    /// Rate limit of registrations of clients, per address.
    registrations: RateLimiter,
    /// Rate limit of new authorizations, per address. Each authorization uses memory until the user decides.
    authorizations: RateLimiter,
}

impl ServerState {
    pub(crate) fn new(login_method: LoginMethod) -> Self {
        let provider = match &login_method {
            LoginMethod::Local { .. } => None,
            LoginMethod::Delegated(provider) => Some(provider.clone()),
        };
        let records = Arc::new(Records::new(provider));
        Self {
            login_method,
            issuer: None,
            scopes: Vec::new(),
            private_redirects: Vec::new(),
            served: OnceLock::new(),
            documents: ClientDocuments::new(records.counts.clone()),
            records,
            login_attempts: RateLimiter::new(Rate::per_minute(10).burst(20)),
            registrations: RateLimiter::new(Rate::per_minute(10).burst(50)),
            authorizations: RateLimiter::new(Rate::per_second(1).burst(60)),
        }
    }

    /// Returns a description of the first invalid setting, or `None` if all settings are valid.
    pub(crate) fn problem(&self) -> Option<String> {
        if let Some(problem) = self.issuer.as_deref().and_then(issuer_problem) {
            return Some(problem);
        }
        if let Some(problem) = self.scopes.iter().find_map(|scope| scope_problem(&scope.name)) {
            return Some(problem);
        }
        let is_repeated = |(at, scope): (usize, &OfferedScope)| {
            self.scopes[..at].iter().any(|other| other.name == scope.name)
        };
        if self.scopes.iter().enumerate().any(is_repeated) {
            return Some("a scope is declared twice".to_owned());
        }
        let is_private =
            |uri: &String| matches!(RedirectUri::parse(uri), Ok(RedirectUri::Private { .. }));
        if let Some(other) = self.private_redirects.iter().find(|uri| !is_private(uri)) {
            return Some(format!(
                "`{other}` is not a redirect URI with a private scheme, such as `com.example.app:/callback`"
            ));
        }
        if let Some(problem) = self.documents.problem() {
            return Some(problem);
        }
        match &self.login_method {
            LoginMethod::Local { page, .. } => page.problem().map(str::to_owned),
            LoginMethod::Delegated(provider) => provider.problem(),
        }
    }

    /// Returns the upstream provider, if a provider authenticates the users.
    pub(crate) fn provider(&self) -> Option<&Provider> {
        match &self.login_method {
            LoginMethod::Local { .. } => None,
            LoginMethod::Delegated(provider) => Some(provider),
        }
    }

    /// Returns the server's name, as pages show it.
    pub(crate) fn name(&self) -> &str {
        self.served.get().map_or("this server", |served| &served.name)
    }

    /// Returns the issuer's path, empty for the root.
    pub(crate) fn path(&self) -> &str {
        let issuer = self.issuer.as_deref().unwrap_or_default();
        issuer.strip_prefix(self.origin(issuer)).unwrap_or_default()
    }

    /// Returns the scheme and host of the issuer. If no issuer is configured, returns those of `shown`, the URL that the request names.
    pub(crate) fn origin<'a>(&'a self, shown: &'a str) -> &'a str {
        let url = self.issuer.as_deref().unwrap_or(shown);
        let host = url.find("://").map_or(0, |at| at + "://".len());
        url[host..].find('/').map_or(url, |at| &url[..host + at])
    }

    /// Returns the issuer. If no issuer is configured, returns `shown`, the origin that the request names.
    pub(crate) fn issuer(&self, shown: &str) -> String {
        self.issuer.clone().unwrap_or_else(|| shown.to_ascii_lowercase())
    }

    /// Whether browsers reach this server through TLS. `shown` is the origin that the request names.
    pub(crate) fn has_tls(&self, shown: &str) -> bool {
        self.origin(shown).starts_with("https://")
    }

    /// Whether the URL `asked` names this server (RFC 8707, section 2). Valid URLs are those of its MCP endpoint and of its HTTP+SSE
    /// endpoint. A stored grant always has the URL of the MCP endpoint.
    pub(crate) fn is_target(&self, asked: &str, request: &PageRequest) -> bool {
        let own = [Some(&request.resource), request.legacy_sse_url.as_ref()];
        own.into_iter().flatten().any(|own| is_same_resource(asked, own))
    }

    /// Whether a grant for `resource` is valid on this server. A stored grant may have been issued under another URL.
    fn is_own(&self, resource: &str) -> bool {
        let Some(served) = self.served.get() else { return false };
        served.resource.as_deref().is_none_or(|own| is_same_resource(resource, own))
    }

    /// Stores the data about the protected resource that is known when the server starts.
    pub(crate) fn start(&self, served: ServedResource) {
        if served.bound.is_some_and(|address| address.is_loopback()) {
            self.documents.listen_on_loopback();
        }
        self.records.counts.start(served.tally.clone());
        self.records.start(served.store.clone());
        // `start` is called once, so the cell is empty and `set` cannot fail. The same holds for the calls above.
        let _ = self.served.set(served);
    }

    /// Loads the stored records, and activates the grants that are valid on this server.
    ///
    /// # Errors
    /// Fails if the records cannot be read.
    pub(crate) async fn load(&self) -> Result<(), String> {
        let records = &self.records;
        records.load().await?;
        if let Some(nodes) = records.nodes() {
            return nodes.start().await.map_err(|refusal| refusal.why.into_owned());
        }
        records.grants.activate(|key, grant| self.standing(key, grant), &records.journal);
        Ok(())
    }

    /// Returns whether a stored grant is valid after a restart, or on another node than the one that has issued it.
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
        // A grant is lost if the server now uses a different provider, or no longer has the key that sealed the upstream tokens.
        if is_backed { Standing::Good } else { Standing::Lost }
    }

    /// Returns the authorization of a valid access token.
    ///
    /// # Errors
    /// Fails if the token is not valid, or cannot be verified now.
    pub(crate) async fn verify(&self, token: &str) -> Result<Authorization, Denied> {
        let records = &self.records;
        let now = records.clock.now();
        let found = match records.nodes() {
            None => records.grants.verify(token, now),
            Some(nodes) => {
                // Boxed, so that a server without a shared store does not pay for the size of this future.
                let standing = |key: &Digest, grant: &mut Grant| self.standing(key, grant);
                let verified = Box::pin(nodes.grants.verify(token, now, standing)).await;
                verified.map_err(|refusal| Denied::unavailable(refusal.why))?
            }
        };
        found.ok_or(Denied::invalid("the token is invalid, expired or revoked"))
    }

    /// Counts a use of a rate by the sender of a request, and returns whether the rate allows it.
    ///
    /// # Errors
    /// Fails if the shared store cannot be used.
    pub(crate) async fn pass(
        &self,
        rate: CallerRate,
        request: &PageRequest,
    ) -> Result<bool, OAuthError> {
        let own = match rate {
            CallerRate::Authorizations => &self.authorizations,
            CallerRate::Registrations => &self.registrations,
        };
        // A flood ends at the limit of this node, which costs no transaction.
        match (own.pass(request.caller()), self.records.nodes()) {
            (Err(_), _) => Ok(false),
            (Ok(()), None) => Ok(true),
            (Ok(()), Some(nodes)) => nodes.limits.pass(request.caller(), rate).await,
        }
    }

    /// Counts a login attempt. Returns `None` if there were too many from the address of the request.
    ///
    /// # Errors
    /// Fails if the shared store cannot be used.
    pub(crate) async fn attempt(
        &self,
        request: &PageRequest,
    ) -> Result<Option<LoginAttempt>, OAuthError> {
        if self.login_attempts.pass(request.caller()).is_err() {
            return Ok(None);
        }
        let Some(nodes) = self.records.nodes() else { return Ok(Some(LoginAttempt(None))) };
        let counted = nodes.limits.attempt(request.caller()).await?;
        Ok(counted.map(|counted| LoginAttempt(Some(counted))))
    }

    /// Undoes the count of an attempt that has succeeded.
    pub(crate) async fn give_back(&self, attempt: LoginAttempt, request: &PageRequest) {
        self.login_attempts.give_back(request.caller());
        if let (LoginAttempt(Some(counted)), Some(nodes)) = (attempt, self.records.nodes()) {
            nodes.limits.give_back(counted).await;
        }
    }

    /// Returns the description of a scope.
    pub(crate) fn description<'a>(&'a self, scope: &'a str) -> &'a str {
        let known = self.scopes.iter().find(|offered| offered.name == scope);
        known.map_or(scope, |offered| &offered.description)
    }

    /// Returns the requested scopes that this server has. A request without `scope` gets all scopes.
    ///
    /// # Errors
    /// Fails if the server has none of the requested scopes.
    pub(crate) fn requested_scopes(
        &self,
        requested: Option<&str>,
    ) -> Result<Vec<String>, OAuthError> {
        let names = || self.scopes.iter().map(|scope| scope.name.clone());
        let Some(requested) = requested else { return Ok(names().collect()) };
        let requested: Vec<_> = requested.split(' ').filter(|name| !name.is_empty()).collect();
        let found: Vec<_> = names().filter(|name| requested.contains(&&**name)).collect();
        // `offline_access` is ignored, because the client's metadata decides whether it gets refresh tokens.
        let is_for_more = requested.iter().any(|name| *name != "offline_access");
        match found.is_empty() && !self.scopes.is_empty() {
            true if is_for_more => {
                Err(OAuthError::invalid_scope("this server has none of the requested scopes"))
            }
            true => Ok(names().collect()),
            false => Ok(found),
        }
    }

    /// Returns the client with this id.
    ///
    /// # Errors
    /// Fails if there is no such client.
    pub(crate) async fn client(
        &self,
        id: &str,
        request: &PageRequest,
    ) -> Result<Arc<Client>, OAuthError> {
        if is_metadata_url(id) {
            let has_tls = self.has_tls(&request.origin);
            return self.documents.find(id, &self.private_redirects, has_tls, request).await;
        }
        let found = self.records.client(id).await?;
        found.ok_or_else(|| OAuthError::invalid_client("the application that sent you is unknown, or its registration has expired: remove this server from the application, and add it again"))
    }
}

/// Login attempt that counts against the limit of its address until it is given back. Contains the place in the shared store, if all nodes
/// count the attempt together.
pub(crate) struct LoginAttempt(Option<CountedAttempt>);

/// Whether two URLs name the same resource.
fn is_same_resource(one: &str, other: &str) -> bool {
    let plain = |url: &str| url.strip_suffix('/').unwrap_or(url).to_ascii_lowercase();
    plain(one) == plain(other)
}

/// Returns the reason why this URL cannot be the issuer, or `None` if it can.
fn issuer_problem(issuer: &str) -> Option<String> {
    let wrong = |why: &str| Some(format!("the issuer `{issuer}` {why}"));
    if issuer.ends_with('/') {
        return wrong("ends with `/`, which clients would have to repeat: leave it out");
    }
    if issuer.contains(['?', '#']) {
        return wrong("has a query or a fragment, which an issuer must not have");
    }
    match RedirectUri::parse(issuer) {
        Ok(RedirectUri::Site { .. } | RedirectUri::Loopback { .. }) => None,
        _ => wrong(
            "is not an `https://` URL in lower case; `http://` is allowed only for `localhost` and loopback addresses",
        ),
    }
}
