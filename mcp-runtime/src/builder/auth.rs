//! Settings for authorization over HTTP.

use std::sync::Arc;

use super::{arguments::CallSite, settings::Builder};
use crate::{
    authorization::{ProtectedResource, Rules},
    call::context::Policy,
    catalog::Entry,
};

/// Access to a server over HTTP.
impl Builder {
    /// Requires an access token from callers over HTTP, and sets the verifier of these tokens. By default no token is required.
    ///
    /// Pass [`Jwt`](crate::auth::Jwt) for tokens that an issuer has signed, or your own [`TokenVerifier`](crate::auth::TokenVerifier) for
    /// other tokens. [`StaticTokens`](crate::auth::StaticTokens) takes a token from an environment variable. Pass a [`ProtectedResource`] to set more than the
    /// verifier.
    ///
    /// The server verifies every request before it reads the body. Handlers take [`Auth`](crate::auth::Auth) to learn who the caller is.
    /// Tasks, sessions and other state that a call creates belong only to the caller's [`Principal`](crate::auth::Principal).
    ///
    /// A request without a valid token gets a 401 response, which tells the client where to get a token. Clients find the same information
    /// in the metadata document at `/.well-known/oauth-protected-resource/mcp`, which ends with the path of the endpoint. A server that
    /// listens itself also serves the document without this path. A router leaves the shorter path to its application, which may have
    /// several servers.
    ///
    /// Over stdio this setting has no effect, because credentials come from the environment there. [`build`](Self::build) rejects a second
    /// call of this method. It also rejects an item with a scope that an `AuthorizationServer` in this process does not offer.
    ///
    /// Specification: Base protocol, Authorization.
    ///
    /// ```
    /// use mcp_runtime::auth::Jwt;
    ///
    /// let server = mcp_runtime::server!()
    ///     .auth(Jwt::new("https://login.example.com", "https://api.example.com/mcp"));
    /// ```
    #[must_use]
    #[track_caller]
    pub fn auth(mut self, resource: impl Into<ProtectedResource>) -> Self {
        let resource = resource.into();
        for problem in resource.problems() {
            self.refuse("auth", problem);
        }
        #[cfg(feature = "auth")]
        if let Some(origin) = resource.pages().and_then(|pages| pages.own_origin()) {
            // Clients and the pages of the authorization server use the host of the issuer to reach this server, so the host and its origin
            // are allowed.
            let host = origin.split_once("://").map_or(origin, |(_, host)| host);
            self.http.hosts.push(host.to_ascii_lowercase());
            self.http.origins.push(origin.to_ascii_lowercase());
        }
        if self.http.protected.replace(Arc::new(resource)).is_some() {
            self.refuse(
                "auth",
                "a verifier is already set, and a server has only one: remove one of the two calls",
            );
        }
        self
    }

    /// Adds a policy that decides who may use which tool, resource or prompt.
    ///
    /// A policy applies in addition to the `scopes(…)` and `auth(…)` of an item. The method can be called several times, and every policy
    /// has to accept the caller.
    ///
    /// Before a handler runs or a stream begins, a caller that a policy rejects gets a 403 response, and an unknown caller gets a 401
    /// response. Lists leave out the items that the caller may not use. **Over stdio a policy has no effect**, as with [`auth`](Self::auth).
    ///
    /// ```
    /// use mcp_runtime::auth::StaticTokens;
    ///
    /// let server = mcp_runtime::server!()
    ///     .auth(StaticTokens::new().token("ada-secret", "ada"))
    ///     .policy(|caller, access| {
    ///         access.kind() != "tool" || caller.principal() != "guest"
    ///     });
    /// ```
    #[must_use]
    #[track_caller]
    pub fn policy(mut self, policy: impl Policy) -> Self {
        self.policies.push((Arc::new(policy), CallSite::here()));
        self
    }

    /// Returns the contradictions between authorization settings, as problems to report.
    pub(super) fn auth_problems(&self) -> impl Iterator<Item = String> + use<> {
        let optional = self.http.protected.as_ref().is_some_and(|resource| resource.is_optional());
        let policy = self.policies.first().filter(|_| optional);
        let problem = policy.map(|(_, place)| {
            format!(
                "`.policy(…)` at {place}: a policy needs a caller with a token, but `.optional()` also admits callers without one, who could use nothing: \
                 remove one of the two, or set `auth(…)` on the items that not every caller may use"
            )
        });
        problem.into_iter()
    }

    /// Returns the reason why a server with these items needs a verifier. Returns `None` if it needs no verifier, or already has one.
    pub(super) fn unverified(&self, entries: &[Entry]) -> Option<String> {
        const FIX: &str = "add `.auth(…)`, with `Jwt` for the tokens of an issuer or with `StaticTokens` for a token of the environment";
        if self.http.protected.is_some() {
            return None;
        }
        if let Some((_, place)) = self.policies.first() {
            let why = "a policy needs to know who calls, but the server verifies no tokens";
            return Some(format!("`.policy(…)` at {place}: {why}: {FIX}"));
        }
        let guarded = entries.iter().filter(|entry| entry.is_guarded());
        let places: Vec<String> =
            guarded.map(|entry| format!("the {} {}", entry.kind_name(), entry.place())).collect();
        let verb = if places.len() == 1 { "is" } else { "are" };
        (!places.is_empty()).then(|| {
            let places = places.join(", ");
            format!("{places} {verb} restricted to some callers, but the server verifies no tokens: {FIX}")
        })
    }

    /// Returns the scopes of an item that no login at the server's own authorization server can grant, as problems to report.
    pub(super) fn ungranted_scopes(&self, entry: &Entry) -> impl Iterator<Item = String> {
        let protected = self.http.protected.as_ref();
        let problems = entry.scopes().filter_map(move |scope| protected?.grant_problem(scope));
        problems
            .map(|problem| format!("the {} {} needs {problem}", entry.kind_name(), entry.place()))
    }

    pub(super) fn rules(&mut self) -> Rules {
        let policies =
            std::mem::take(&mut self.policies).into_iter().map(|(policy, _)| policy).collect();
        Rules { policies, protected: self.http.protected.clone() }
    }
}
