//! Who may call over HTTP.

use std::sync::Arc;

use super::{Builder, Place};
use crate::{
    auth::{ProtectedResource, Rules},
    catalog::Entry,
    context::Policy,
};

impl Builder {
    /// Lets in over HTTP only who shows an access token that this verifies: [`Jwt`](crate::Jwt) for those that an issuer has signed, a
    /// [`TokenVerifier`](crate::TokenVerifier) of your own for others, or a [`ProtectedResource`] where more is to be said of it.
    ///
    /// Every request is verified, before its body is looked at. Handlers take [`Auth`](crate::Auth) to know who calls, and what a call
    /// leaves behind is its [`Principal`](crate::Principal)'s alone. Clients are told where to get a token: in the answer 401, and at
    /// `/.well-known/oauth-protected-resource` with and without the path of the endpoint.
    ///
    /// Over stdio it changes nothing: credentials come from the environment there.
    ///
    /// ```
    /// use mcp_runtime::Jwt;
    ///
    /// let server = mcp_runtime::server!().auth(Jwt::new("https://login.example.com", "https://api.example.com/mcp"));
    /// # let _ = server;
    /// ```
    #[must_use]
    #[track_caller]
    pub fn auth(mut self, resource: impl Into<ProtectedResource>) -> Self {
        let resource = resource.into();
        for problem in resource.problems() {
            self.refuse("auth", problem);
        }
        #[cfg(feature = "auth-server")]
        if let Some(origin) = resource.pages().and_then(|it| it.own_origin()) {
            // What an issuer is called is what its clients and its own pages call it.
            let host = origin.split_once("://").map_or(origin, |it| it.1);
            self.http.hosts.push(host.to_ascii_lowercase());
            self.http.origins.push(origin.to_ascii_lowercase());
        }
        if self.http.protected.replace(Arc::new(resource)).is_some() {
            self.refuse("auth", "it was said before: one verifier decides who may call");
        }
        self
    }

    /// Decides who may use what, for all tools, resources and prompts: besides the `scopes(…)` and `auth(…)` that an item says, this has to
    /// say yes. May be said several times: all have to.
    ///
    /// ```
    /// use mcp_runtime::StaticTokens;
    ///
    /// let server = mcp_runtime::server!()
    ///     .auth(StaticTokens::new().token("ada-secret", "ada"))
    ///     .policy(|caller, access| access.kind() != "tool" || caller.principal().as_str() != "guest");
    /// # let _ = server;
    /// ```
    ///
    /// A caller that says no is answered with 403, one that nobody knows with 401, before anything runs and any stream begins; lists do
    /// not show them what they may not use. Over stdio nobody is asked, as with [`auth`](Self::auth).
    #[must_use]
    #[track_caller]
    pub fn policy(mut self, policy: impl Policy) -> Self {
        self.policies.push((Arc::new(policy), Place::here()));
        self
    }

    /// What is wrong with who may call, taken together.
    pub(super) fn auth_problems(&self) -> impl Iterator<Item = String> + use<> {
        let optional = self.http.protected.as_ref().is_some_and(|it| it.is_optional());
        let policy = self.policies.first().filter(|_| optional);
        let problem = policy.map(|(_, place)| {
            format!(
                "`.policy(…)` at {place}: it is asked about callers who are known, and `.optional()` lets others in, who could use nothing: \
                 remove one of the two, or say `auth(…)` of the items that are not for everybody"
            )
        });
        problem.into_iter()
    }

    /// Why a server with these items cannot do without a verifier, if it has none.
    pub(super) fn unverified(&self, entries: &[Entry]) -> Option<String> {
        const FIX: &str = "add `.auth(…)`, with `Jwt` for the tokens of an issuer or with `StaticTokens` for development";
        if self.http.protected.is_some() {
            return None;
        }
        if let Some((_, place)) = self.policies.first() {
            let why = "it is asked about callers, and nobody finds out who calls";
            return Some(format!("`.policy(…)` at {place}: {why}: {FIX}"));
        }
        let guarded = entries.iter().filter(|it| it.is_guarded());
        let places: Vec<String> =
            guarded.map(|it| format!("the {} {}", it.kind_name(), it.place())).collect();
        let verb = if places.len() == 1 { "is" } else { "are" };
        (!places.is_empty()).then(|| {
            let places = places.join(", ");
            format!("{places} {verb} not for everybody, and nobody finds out who calls: {FIX}")
        })
    }

    pub(super) fn rules(&mut self) -> Rules {
        let policies = std::mem::take(&mut self.policies).into_iter().map(|it| it.0).collect();
        Rules { policies, protected: self.http.protected.clone() }
    }
}
