//! Settings for authorization over HTTP.

use std::{
    any::{TypeId, type_name},
    sync::Arc,
};

use super::{
    arguments::CallSite,
    check::{self, ServerState},
    settings::{Builder, ConfiguredAuth},
};
use crate::{
    authorization::{ProtectedResource, Rules, StaticTokens},
    call::context::{Policy, States},
    catalog::Entry,
    config::{self, Configuration, DeclaredConfig},
};

const SECOND_VERIFIER: &str =
    "a verifier is already set, and a server has only one: remove one of the two calls";

/// Access to a server over HTTP.
impl Builder {
    /// Requires an access token from callers over HTTP, and sets the verifier of these tokens. By default no token is required.
    ///
    /// Pass [`Jwt`](crate::auth::Jwt) for tokens that an issuer has signed, or your own [`TokenVerifier`](crate::auth::TokenVerifier) for
    /// other tokens. [`StaticTokens`](crate::auth::StaticTokens) takes a token from an environment variable. Pass a [`ProtectedResource`] to set more than the
    /// verifier. A verifier that depends on settings is made by [`auth_with`](Self::auth_with).
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
        self.protect(resource.into(), "auth", CallSite::here());
        self
    }

    /// Like [`auth`](Self::auth), with a verifier that depends on a struct with [`#[config]`](macro@crate::prelude::config), such as a token
    /// or the URL of an issuer.
    ///
    /// The closure runs when the server is built, if every field of the struct has a value. Otherwise the server does not start over HTTP,
    /// and the error lists the missing values. Stdio and commands such as `list` need no values, unless a function of the server takes the
    /// struct too. A verifier that is made and has a problem is refused there too. In a test, give the struct with [`state`](Self::state).
    ///
    /// ```
    /// use mcp_runtime::{auth::StaticTokens, prelude::*};
    ///
    /// #[config]
    /// struct Config {
    ///     /// Access token of the team
    ///     #[config(secret)]
    ///     token: String,
    /// }
    ///
    /// let server = mcp_runtime::server!()
    ///     .auth_with(|config: &Config| StaticTokens::new().secret_token(&config.token, "team"));
    /// ```
    #[must_use]
    #[track_caller]
    pub fn auth_with<C: Configuration, R: Into<ProtectedResource>>(
        mut self,
        resource: impl FnOnce(&C) -> R + Send + 'static,
    ) -> Self {
        let configured = ConfiguredAuth {
            config: (TypeId::of::<C>(), type_name::<C>()),
            make: Box::new(move |states| Some(resource(states.get::<C>()?).into())),
            place: CallSite::here(),
        };
        self.auth_config = Some(TypeId::of::<C>());
        if self.configured_auth.replace(configured).is_some() {
            self.refuse("auth_with", SECOND_VERIFIER);
        }
        self
    }

    fn protect(&mut self, resource: ProtectedResource, method: &str, place: CallSite) {
        for problem in resource.problems() {
            self.refuse_at(method, place, problem);
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
            self.refuse_at(method, place, SECOND_VERIFIER);
        }
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

    /// Runs the closure of [`auth_with`](Self::auth_with), if it has not run yet. If values are missing, the server gets a verifier with which
    /// it cannot start over HTTP.
    ///
    /// # Errors
    /// Fails if values are missing or wrong. The error lists all of them, also those of other structs.
    pub(crate) fn configure_auth(&mut self) -> Result<(), String> {
        let Some(ConfiguredAuth { config: (id, name), make, place }) = self.configured_auth.take()
        else {
            return Ok(());
        };
        let promised = self.promised.iter().find(|promised| promised.id == id);
        if let Some(promised) = promised
            && promised.is_made_by_setup
        {
            let problem = format!(
                "the `.setup(…)` at {} makes `{name}`, which is too late: pass it with `.state(…)`, or let the server read it",
                promised.place
            );
            self.refuse_at("auth_with", place, problem);
            return Ok(());
        }
        let (resource, result) = match promised {
            Some(_) => (make(&self.states), Ok(())),
            None => {
                let mut states = States::default();
                match self.plan_of(id).read(&mut states) {
                    Ok(()) => (make(&states), Ok(())),
                    Err(why) => (None, Err(self.missing_values(id).unwrap_or(why))),
                }
            }
        };
        let resource = resource.unwrap_or_else(|| StaticTokens::unusable().into());
        self.protect(resource, "auth_with", place);
        result
    }

    /// Returns the plan to read a single struct with `#[config]`.
    fn plan_of(&self, config: TypeId) -> DeclaredConfig {
        let structs = config::registered().filter(|entry| entry.def().id() == config);
        let structs = structs.map(|entry| (entry, true));
        DeclaredConfig::new(&self.identity.name, structs, self.given.as_ref())
    }

    /// Returns the error about the values of this struct and of all structs that the items take.
    fn missing_values(&self, config: TypeId) -> Option<String> {
        let mut states = check::entries(self, ServerState::Unknown).states;
        states.insert(config);
        self.config_plan(&states).read(&mut States::default()).err()
    }

    /// Whether an entry for a client needs a token that the client cannot get by a login. `false` if that depends on values that are not
    /// known here.
    #[cfg(feature = "workbench")]
    pub(crate) fn needs_given_token(mut self) -> bool {
        self.configure_auth().is_ok()
            && self.http.protected.is_some_and(|resource| resource.needs_given_token())
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

#[cfg(test)]
mod tests {
    use crate::auth::StaticTokens;

    /// Settings of a server with one token.
    #[mcp_macros::config(crate = crate, env = "BUILDER_AUTH")]
    struct Team {
        /// Access token of the team
        #[config(secret)]
        builder_auth_token: String,
    }

    #[test]
    fn a_token_can_be_given_on_the_command_line() {
        let serves = |given: Option<&str>| {
            let mut builder = crate::server!(crate = crate, group = "auth of a builder").auth_with(
                |team: &Team| StaticTokens::new().secret_token(&team.builder_auth_token, "team"),
            );
            let given =
                given.map(|token| ("builder-auth-token".to_owned(), vec![token.to_owned()]));
            builder.given = Some(given.into_iter().collect());
            builder.configure_auth()?;
            builder.http.protected.expect("a verifier").may_serve_at(None)
        };
        assert_eq!(serves(Some("0123456789abcdef")), Ok(()));
        assert!(serves(Some("short")).unwrap_err().contains("has fewer than 16 characters"));
        let missing = serves(None).unwrap_err();
        assert!(missing.contains("BUILDER_AUTH_BUILDER_AUTH_TOKEN"), "{missing}");
    }
}
