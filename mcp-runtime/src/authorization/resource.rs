//! Protected resource (RFC 9728): its settings, its metadata, and the check of access tokens. Clients read the metadata before they have a
//! token.

use std::{borrow::Cow, fmt, net::IpAddr, sync::Arc, time::SystemTime};

use bytes::Bytes;
use http::{header, request::Parts};
use mcp_runtime_contract::suggest::nearest;
use serde::Serialize;

use super::{
    bearer::presented,
    challenge::{AuthRefusal, combined_scopes, scope_problem},
    pages::{AuthorizationPages, PageRequest, ServedResource},
    verifier::{Denied, TokenVerifier, Verify, Verifying},
};
use crate::{
    call::context::{Authorization, Hierarchy, Principal},
    limits::RefusalCounters,
    storage::Store,
};

/// Part of the metadata URL between the host and the path of the resource.
pub(crate) const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// Server whose callers need an access token (RFC 9728).
///
/// Pass it to [`Builder::auth`](crate::Builder::auth). If you have nothing to configure but the verifier, pass the verifier to that method
/// instead.
///
/// By default, every request needs a valid token, and lists contain only the items that the caller may use. Scopes are required only if you
/// set them with [`require`](Self::require), or on items.
///
/// Specification: Base protocol, Authorization.
///
/// ```
/// use mcp_runtime::auth::{Jwt, ProtectedResource};
///
/// let verifier = Jwt::new("https://login.example.com", "https://api.example.com/mcp");
/// let server = mcp_runtime::server!().auth(
///     ProtectedResource::new(verifier)
///         .scopes(["notes:read", "notes:write"])
///         .require("notes:read"),
/// );
/// ```
pub struct ProtectedResource {
    verifier: Arc<dyn Verify>,
    resource: Option<String>,
    servers: Vec<String>,
    scopes: Vec<String>,
    required: Vec<String>,
    hierarchy: Hierarchy,
    /// Copy of `hierarchy` that all callers share. `None` if the hierarchy is empty.
    shared: Option<Arc<Hierarchy>>,
    lists_beyond_scopes: bool,
    name: Option<String>,
    documentation: Option<String>,
    is_optional: bool,
    keeps_token: bool,
    /// Pages of the authorization server, if it runs in this process.
    pages: Option<Arc<dyn AuthorizationPages>>,
}

impl ProtectedResource {
    /// Whether every request needs a token that no client can get by a login.
    #[cfg(feature = "workbench")]
    pub(crate) fn needs_given_token(&self) -> bool {
        self.servers.is_empty() && self.pages.is_none() && !self.is_optional
    }
}

impl<V: TokenVerifier> From<V> for ProtectedResource {
    fn from(verifier: V) -> Self {
        Self::new(verifier)
    }
}

impl fmt::Debug for ProtectedResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProtectedResource")
            .field("resource", &self.resource)
            .field("authorization_servers", &self.servers)
            .finish_non_exhaustive()
    }
}

impl ProtectedResource {
    /// Creates a protected resource that accepts the tokens of `verifier`.
    pub fn new(verifier: impl TokenVerifier) -> Self {
        Self {
            resource: verifier.resource(),
            servers: verifier.authorization_servers(),
            pages: verifier.authorization_pages().map(|pages| pages.0),
            verifier: Arc::new(verifier),
            scopes: Vec::new(),
            required: Vec::new(),
            hierarchy: Hierarchy::default(),
            shared: None,
            lists_beyond_scopes: false,
            name: None,
            documentation: None,
            is_optional: false,
            keeps_token: false,
        }
    }

    /// Sets the URL for which clients request tokens (RFC 8707), such as `https://api.example.com/mcp`.
    ///
    /// By default, the URL comes from the verifier. If the verifier has none, the server derives the URL from the host that the request
    /// names. A URL with a query or a fragment is rejected when the server is built.
    #[must_use]
    pub fn resource(mut self, url: impl Into<String>) -> Self {
        self.resource = Some(url.into());
        self
    }

    /// Adds the URL of an issuer of tokens, in addition to the issuers that the verifier names. Without any issuer the server publishes no
    /// metadata, because the metadata would not help clients to get a token.
    #[must_use]
    pub fn authorization_server(mut self, issuer: impl Into<String>) -> Self {
        self.servers.push(issuer.into());
        self
    }

    /// Adds scopes to the published list of scopes that clients may want to request (`scopes_supported`).
    ///
    /// If the server [requires](Self::require) scopes, the response to a request without a token names the required scopes and the
    /// scopes of this list, because many clients then request exactly the named scopes.
    ///
    /// Add as few scopes as possible. If a call needs another scope, the response names that scope. For this reason, the scopes of items
    /// are not added automatically.
    #[must_use]
    pub fn scopes<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.scopes.extend(scopes.into_iter().map(Into::into));
        self
    }

    /// Adds a scope that every request needs. A request whose token lacks this scope gets a 403 response with `insufficient_scope`.
    ///
    /// If only some items need a scope, declare the scope on these items instead: `#[tool(scopes("notes:write"))]`.
    ///
    /// Most clients request only the required scopes when their user logs in, and the lists then leave out all items that need other
    /// scopes. Name these scopes with [`scopes`](Self::scopes), or let clients see these items with
    /// [`list_beyond_scopes`](Self::list_beyond_scopes).
    #[must_use]
    pub fn require(mut self, scope: impl Into<String>) -> Self {
        self.required.push(scope.into());
        self
    }

    /// Makes `scope` imply `others`: a token that grants `scope` is also accepted where one of `others` is needed.
    ///
    /// Call this method several times to add more implications. An implied scope may imply further scopes.
    ///
    /// ```
    /// use mcp_runtime::auth::{ProtectedResource, StaticTokens};
    ///
    /// let protected = ProtectedResource::new(StaticTokens::new())
    ///     .implies("notes:admin", ["notes:write"])
    ///     .implies("notes:write", ["notes:read"]);
    /// let server = mcp_runtime::server!().auth(protected);
    /// ```
    #[must_use]
    pub fn implies<S: AsRef<str>>(
        mut self,
        scope: impl AsRef<str>,
        others: impl IntoIterator<Item = S>,
    ) -> Self {
        for other in others {
            self.hierarchy.imply(scope.as_ref(), other.as_ref());
        }
        self.shared = self.hierarchy.shared();
        self
    }

    /// Lists items even if the caller lacks their scopes. A client then sees such an item, and can request the missing scopes when it uses
    /// the item. By default, lists contain only items that the caller may use. Items that a [`Policy`](crate::auth::Policy) rejects stay
    /// hidden.
    #[must_use]
    pub fn list_beyond_scopes(mut self) -> Self {
        self.lists_beyond_scopes = true;
        self
    }

    /// Sets the name of the server that is shown to users (`resource_name`).
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets the URL of the documentation for developers of clients (`resource_documentation`).
    #[must_use]
    pub fn documentation(mut self, url: impl Into<String>) -> Self {
        self.documentation = Some(url.into());
        self
    }

    /// Accepts requests without a token, for handlers that take `Option<Auth<…>>`. If a request has a token, the token must still be valid.
    /// By default, a request without a token gets a 401 response.
    #[must_use]
    pub fn optional(mut self) -> Self {
        self.is_optional = true;
        self
    }

    /// Keeps the header `Authorization` in the request that handlers see. By default, the header is removed, because the specification
    /// forbids passing the token on to another service.
    #[must_use]
    pub fn keep_token(mut self) -> Self {
        self.keeps_token = true;
        self
    }
}

impl ProtectedResource {
    /// Returns a description of each problem in the configuration.
    pub(crate) fn problems(&self) -> Vec<String> {
        let mut problems: Vec<String> = self.verifier.problem().into_iter().collect();
        if let Some(problem) = self.resource.as_deref().and_then(resource_problem) {
            problems.push(problem);
        }
        for server in &self.servers {
            if !is_url(server) {
                problems.push(format!(
                    "`{server}` is not the URL of an authorization server, such as `https://login.example.com`"
                ));
            }
        }
        let own = self.scopes.iter().chain(&self.required).map(String::as_str);
        problems.extend(own.chain(self.hierarchy.scopes()).filter_map(scope_problem));
        problems.extend(self.ungranted_scope());
        problems
    }

    pub(crate) fn is_optional(&self) -> bool {
        self.is_optional
    }

    pub(crate) fn lists_beyond_scopes(&self) -> bool {
        self.lists_beyond_scopes
    }

    /// Returns the scopes that every request needs.
    pub(crate) fn required(&self) -> impl Iterator<Item = &str> {
        self.required.iter().map(String::as_str)
    }

    /// Adds the scope hierarchy of this server to an authorization.
    pub(crate) fn completed(&self, authorization: Authorization) -> Authorization {
        authorization.under(self.shared.clone())
    }

    pub(crate) fn may_serve_at(&self, address: Option<IpAddr>) -> Result<(), String> {
        self.verifier.may_serve_at(address)
    }

    /// Returns the configured issuers of tokens. Without any, the server itself issues tokens, or the issuer is not known.
    #[cfg(feature = "playground")]
    pub(crate) fn issuers(&self) -> &[String] {
        &self.servers
    }

    /// Whether a server whose MCP endpoint has the path `endpoint` serves the metadata document at `path`.
    pub(crate) fn is_metadata(&self, path: &str, endpoint: &str) -> bool {
        let Some(rest) = path.strip_prefix(WELL_KNOWN) else { return false };
        let own = self.resource.as_deref().and_then(url_parts).map_or("", |parts| parts.1);
        rest.is_empty() || rest == endpoint || rest == own
    }

    /// Returns the paths at which the router of an application serves the metadata document, if the MCP endpoint has the path `endpoint`.
    /// The path that describes the whole host is left to the application, because an application may have several resources.
    #[cfg(feature = "axum")]
    pub(crate) fn metadata_paths(&self, endpoint: &str) -> Vec<String> {
        let own = self.resource.as_deref().and_then(url_parts).map(|parts| parts.1);
        let endpoint = if endpoint == "/" { "" } else { endpoint };
        let mut paths = vec![format!("{WELL_KNOWN}{endpoint}")];
        let own = own.filter(|path| *path != endpoint && !path.is_empty());
        paths.extend(own.map(|path| format!("{WELL_KNOWN}{path}")));
        paths
    }

    /// Whether clients may also name the URL of the HTTP+SSE endpoint as the resource of their tokens. This is allowed only if the
    /// authorization server runs in this process. An external authorization server would issue tokens with that URL as their audience,
    /// which the verifier may not accept.
    pub(crate) fn is_pair_resource(&self) -> bool {
        self.resource.is_none() && self.pages.is_some()
    }

    /// Returns the configured URL of the resource, or else the URL that is derived from the request.
    fn url(&self, derived: impl FnOnce() -> String) -> Cow<'_, str> {
        let derived = || self.at_issuer(derived());
        self.resource.as_deref().map_or_else(|| derived().into(), Cow::Borrowed)
    }

    /// Whether an issuer of tokens is known.
    fn has_servers(&self) -> bool {
        self.pages.is_some() || !self.servers.is_empty()
    }

    /// Returns the issuers of tokens. `derived` returns the URL of the resource as the request names it.
    fn all_servers(&self, derived: impl FnOnce() -> String) -> Cow<'_, [String]> {
        if let Some(pages) = &self.pages {
            let own = pages.issuer(origin(&derived()));
            return [std::slice::from_ref(&own), &self.servers].concat().into();
        }
        Cow::Borrowed(&self.servers)
    }

    /// Returns the metadata document, or `None` if no issuer is known. `derived` returns the URL of the resource as the request names it.
    pub(crate) fn metadata(&self, derived: impl Fn() -> String) -> Option<Vec<u8>> {
        if !self.has_servers() {
            return None;
        }
        let metadata = ResourceMetadata {
            resource: &self.url(&derived),
            authorization_servers: &self.all_servers(&derived),
            scopes_supported: &self.supported(),
            bearer_methods_supported: ["header"],
            resource_name: self.name.as_deref(),
            resource_documentation: self.documentation.as_deref(),
        };
        Some(metadata.json())
    }

    fn supported(&self) -> Vec<String> {
        let mut all = Vec::new();
        let granted = self.pages.as_ref().map(|pages| pages.scopes()).unwrap_or_default();
        for scope in self.required.iter().chain(&self.scopes).chain(&granted) {
            if !all.contains(scope) {
                all.push(scope.clone());
            }
        }
        all
    }

    /// Returns the value of `WWW-Authenticate` for this refusal.
    pub(crate) fn challenge(
        &self,
        refusal: &AuthRefusal,
        derived: impl FnOnce() -> String,
    ) -> Option<String> {
        let metadata = self.has_servers().then(|| self.url(derived));
        let metadata = metadata.and_then(|url| metadata_url(&url));
        refusal.challenge(metadata.as_deref(), &self.first_scopes())
    }

    /// Returns the scopes that the first token of a client should grant: the required scopes, and those of the author's list. Empty if none
    /// is required, because clients then request the published list.
    fn first_scopes(&self) -> String {
        match self.required.is_empty() {
            true => String::new(),
            false => combined_scopes(self.required(), self.scopes.iter().map(String::as_str)),
        }
    }

    /// Begins to verify the token of a request. Removes the header `Authorization`, unless the settings keep it. Returns `None` if the
    /// request is accepted without a token.
    ///
    /// # Errors
    /// Fails if the request needs a token and has none, if it has credentials of another scheme instead, or if the token is malformed, too
    /// long or in the query.
    pub(crate) fn begin(&self, parts: &mut Parts) -> Result<Option<Verifying>, AuthRefusal> {
        let token = presented(&parts.headers, parts.uri.query())?;
        let is_anonymous = token.is_none() && !parts.headers.contains_key(header::AUTHORIZATION);
        match token {
            Some(token) => {
                if self.keeps_token {
                    if let Some(header) = parts.headers.get_mut(header::AUTHORIZATION) {
                        header.set_sensitive(true);
                    }
                } else {
                    parts.headers.remove(header::AUTHORIZATION);
                }
                Ok(Some(self.verifier.clone().verify(token)))
            }
            None if self.is_optional && is_anonymous => Ok(None),
            None => Err(AuthRefusal::Missing),
        }
    }

    /// Accepts a request if its token was verified, and inserts the authorization into the extensions of the request.
    ///
    /// # Errors
    /// Fails if the verifier rejects the token or is unavailable. Also fails if the token names no caller, has expired, or lacks a required scope.
    pub(crate) fn finish(
        &self,
        verified: Result<Authorization, Denied>,
        parts: &mut Parts,
    ) -> Result<(), AuthRefusal> {
        let authorization =
            verified.map_err(|Denied { why, is_unavailable }| match is_unavailable {
                true => AuthRefusal::Unavailable(why),
                false => AuthRefusal::Invalid(why),
            })?;
        if authorization.principal().is_empty() {
            // All callers without a name share the empty name, so it cannot identify a caller.
            return Err(AuthRefusal::Invalid("the token names no principal".into()));
        }
        if authorization.expiry().is_some_and(|expiry| expiry <= SystemTime::now()) {
            return Err(AuthRefusal::Invalid("the token has expired".into()));
        }
        let authorization = self.completed(authorization);
        if !self.required().all(|scope| authorization.has_scope(scope)) {
            let why = format!("the token must grant `{}`", self.required.join(" "));
            let scopes = combined_scopes(self.required(), authorization.granted());
            return Err(AuthRefusal::Insufficient { why, scopes });
        }
        parts.extensions.insert::<Principal>(authorization.identity().clone());
        parts.extensions.insert(authorization);
        Ok(())
    }
}

/// Methods for the pages of the authorization server.
impl ProtectedResource {
    pub(crate) fn pages(&self) -> Option<&Arc<dyn AuthorizationPages>> {
        self.pages.as_ref()
    }

    /// Returns an error message if every request needs a scope that the authorization server cannot grant.
    fn ungranted_scope(&self) -> Option<String> {
        let problem = self.required().find_map(|scope| self.grant_problem(scope))?;
        Some(format!("every request needs {problem}"))
    }

    /// Describes the problem with a scope that an item or every request needs: no login at the authorization server can grant the scope.
    /// Returns `None` if a login can, or if the tokens come from another authorization server.
    pub(crate) fn grant_problem(&self, scope: &str) -> Option<String> {
        let offered = self.pages.as_ref()?.scopes();
        let is_offered = |scope: &str| offered.iter().any(|offered| offered == scope);
        if self.hierarchy.satisfies(is_offered, scope) {
            return None;
        }
        let add = format!("add it with `.scope(\"{scope}\", \"…\")`");
        let fix = match nearest(scope, offered.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`? Otherwise {add}"),
            None => add,
        };
        Some(format!("the scope `{scope}`, which the `AuthorizationServer` does not offer: {fix}"))
    }

    /// Prepares the authorization server, if there is one.
    ///
    /// # Errors
    /// Fails if the authorization server cannot be used. The error states the reason.
    pub(crate) async fn open(
        &self,
        name: &str,
        path: &str,
        bound: Option<IpAddr>,
        tally: &Arc<RefusalCounters>,
        store: Option<&Arc<dyn Store>>,
    ) -> Result<(), String> {
        let Some(pages) = &self.pages else { return Ok(()) };
        let resource = self.resource.clone().or_else(|| pages.resource(path));
        let (name, tally, store) = (name.to_owned(), tally.clone(), store.cloned());
        pages.open(ServedResource { name, resource, bound, tally, store }).await
    }

    /// Creates the request that is passed to a page of the authorization server. `derived` is the URL of the resource as the request names
    /// it. `legacy_sse_url` is the URL of the HTTP+SSE endpoint.
    pub(crate) fn page_request(
        &self,
        derived: String,
        legacy_sse_url: Option<String>,
        parts: &Arc<Parts>,
        body: Bytes,
        address: Option<IpAddr>,
    ) -> PageRequest {
        let origin = origin(&derived).to_owned();
        let resource = self.url(|| derived).into_owned();
        let legacy_sse_url = legacy_sse_url.map(|url| self.url(|| url).into_owned());
        PageRequest { parts: parts.clone(), body, resource, legacy_sse_url, origin, address }
    }

    /// Returns the URL of the resource below the configured issuer. If no issuer is configured, returns `derived`, the URL that the request
    /// names.
    fn at_issuer(&self, derived: String) -> String {
        let path = url_parts(&derived).map_or("", |parts| parts.1);
        self.pages.as_ref().and_then(|pages| pages.resource(path)).unwrap_or(derived)
    }
}

/// Metadata document (RFC 9728, section 2).
#[derive(Serialize)]
struct ResourceMetadata<'a> {
    resource: &'a str,
    authorization_servers: &'a [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    scopes_supported: &'a [String],
    bearer_methods_supported: [&'static str; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    resource_name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resource_documentation: Option<&'a str>,
}

impl ResourceMetadata<'_> {
    fn json(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }
}

/// Splits a URL into its origin and its path. The path is empty for the root.
fn url_parts(url: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = url.split_once("://")?;
    let end = rest.find('/').unwrap_or(rest.len());
    let path = &rest[end..];
    let origin = &url[..scheme.len() + "://".len() + end];
    Some((origin, if path == "/" { "" } else { path }))
}

/// Returns the scheme and host of a URL.
fn origin(url: &str) -> &str {
    url_parts(url).map_or(url, |parts| parts.0)
}

/// Returns the URL of the metadata document of a resource (RFC 9728, section 3.1).
fn metadata_url(resource: &str) -> Option<String> {
    let (origin, path) = url_parts(resource)?;
    Some(format!("{origin}{WELL_KNOWN}{path}"))
}

fn is_url(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/'))
        && text.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&byte))
}

/// Describes the problem with the URL of a resource. Returns `None` if the URL is valid.
fn resource_problem(resource: &str) -> Option<String> {
    if !is_url(resource) {
        Some(format!(
            "`{resource}` is not the URL of a server, such as `https://api.example.com/mcp`"
        ))
    } else if resource.contains(['#', '?']) {
        Some(format!(
            "`{resource}` has a query or a fragment, which the URL of a resource must not have"
        ))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authorization::StaticTokens;

    fn resource() -> ProtectedResource {
        StaticTokens::new().token("a", "ada").into()
    }

    #[test]
    fn a_protected_resource_with_invalid_metadata_has_problems() {
        let check = |resource: ProtectedResource, says: &[&str]| {
            let problems = resource.problems();
            assert_eq!(problems.len(), says.len(), "{problems:?}");
            for (problem, says) in problems.iter().zip(says) {
                assert!(problem.contains(says), "{problem}");
            }
        };
        check(resource(), &[]);
        check(resource().resource("https://a.example/mcp").scopes(["a:b", "c"]).require("d"), &[]);
        check(resource().resource("api://mine"), &["not the URL of a server"]);
        check(resource().resource("https://a.example/mcp#x"), &["fragment"]);
        check(resource().authorization_server("login.example"), &["authorization server"]);
        check(resource().scopes(["offline_access", "a b"]), &["offline_access", "not a scope"]);
        check(resource().require(""), &["not a scope"]);
    }

    #[test]
    fn the_document_names_what_clients_need() {
        let derived = || "http://localhost:1/mcp".to_owned();
        assert_eq!(resource().metadata(derived), None);
        let one = resource()
            .authorization_server("https://login.example")
            .scopes(["a", "b"])
            .require("b");
        let text = String::from_utf8(one.metadata(derived).unwrap()).unwrap();
        assert_eq!(
            text,
            "{\"resource\":\"http://localhost:1/mcp\",\"authorization_servers\":[\"https://login.example\"],\
             \"scopes_supported\":[\"b\",\"a\"],\"bearer_methods_supported\":[\"header\"]}"
        );
        let named = one.resource("https://a.example/x").name("N");
        let text = String::from_utf8(named.metadata(derived).unwrap()).unwrap();
        assert!(
            text.contains("\"resource\":\"https://a.example/x\"")
                && text.contains("\"resource_name\":\"N\"")
        );
        for (path, expected) in
            [("", true), ("/mcp", true), ("/x", true), ("/y", false), ("mcp", false)]
        {
            assert_eq!(
                named.is_metadata(&format!("{WELL_KNOWN}{path}"), "/mcp"),
                expected,
                "{path}"
            );
        }
    }

    #[test]
    fn a_request_without_a_token_learns_the_scopes_of_the_first_token() {
        let told = |resource: ProtectedResource| {
            resource.challenge(&AuthRefusal::Missing, String::new).unwrap()
        };
        assert_eq!(told(resource().scopes(["a", "b"])), "Bearer realm=\"mcp\"");
        assert_eq!(told(resource().require("b")), "Bearer scope=\"b\"");
        assert_eq!(told(resource().scopes(["a", "b"]).require("b")), "Bearer scope=\"b a\"");
    }

    #[test]
    fn a_document_lies_between_host_and_path() {
        for (resource, expected) in [
            ("https://a.example", "https://a.example/.well-known/oauth-protected-resource"),
            ("https://a.example/", "https://a.example/.well-known/oauth-protected-resource"),
            ("https://a.example/mcp", "https://a.example/.well-known/oauth-protected-resource/mcp"),
            ("http://[::1]:8000/a/b", "http://[::1]:8000/.well-known/oauth-protected-resource/a/b"),
        ] {
            assert_eq!(metadata_url(resource).as_deref(), Some(expected));
        }
        assert_eq!(metadata_url("a.example"), None);
    }
}
