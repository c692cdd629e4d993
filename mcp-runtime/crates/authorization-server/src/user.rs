use std::fmt;

use serde::{Deserialize, Serialize};

use super::clock::time;
use mcp_runtime::Authorization;

/// User who has logged in, as returned by the `login` function of an [`AuthorizationServer`](crate::AuthorizationServer) or by the function
/// of `Upstream::user`.
///
/// ```
/// use mcp_runtime_authorization_server::User;
///
/// #[derive(serde::Serialize)]
/// struct Account {
///     plan: &'static str,
/// }
///
/// let ada = User::new("ada").name("Ada Lovelace").claims(&Account { plan: "free" }).may_grant(["notes:read"]);
/// # let _ = ada;
/// ```
#[derive(Clone, Serialize, Deserialize)]
pub struct User {
    principal: String,
    name: Option<String>,
    claims: Option<String>,
    /// Scopes that the user may grant. `None` means all.
    may: Option<Vec<String>>,
    /// Reason why the user is invalid.
    #[serde(skip)]
    problem: Option<String>,
}

impl User {
    /// Creates a user with this name, which becomes the caller's [`Principal`](mcp_runtime::Principal). The name must differ from the names of
    /// all other users, and must never be given to another user.
    pub fn new(principal: impl Into<String>) -> Self {
        let principal = principal.into();
        let problem = principal.is_empty().then(|| "a user without a name is everybody".to_owned());
        Self { principal, name: None, claims: None, may: None, problem }
    }

    /// Sets the name that pages show. By default, they show the principal's name.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets more data about the user, which handlers take as [`Auth<T>`](mcp_runtime::Auth). It is stored as JSON for as long as the user stays
    /// signed in. Handlers should look up data that can change in that time.
    #[must_use]
    pub fn claims(mut self, claims: &impl Serialize) -> Self {
        match serde_json::to_string(claims) {
            Ok(claims) => self.claims = Some(claims),
            Err(why) => self.problem = Some(format!("the claims are no JSON: {why}")),
        }
        self
    }

    /// Limits the scopes that the user can grant, regardless of what a client requests. By default, a user may grant all scopes of the
    /// server.
    #[must_use]
    pub fn may_grant<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.may = Some(scopes.into_iter().map(Into::into).collect());
        self
    }

    pub(crate) fn principal(&self) -> &str {
        &self.principal
    }

    pub(crate) fn shown(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.principal)
    }

    pub(crate) fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    pub(crate) fn may(&self, scope: &str) -> bool {
        self.may.as_ref().is_none_or(|it| it.iter().any(|it| it == scope))
    }

    /// Returns the authorization of a token with these scopes, which expires at `expires` (seconds since 1970).
    pub(crate) fn authorization(&self, scopes: &[String], expires: u64) -> Authorization {
        let authorization = Authorization::new(&*self.principal)
            .scopes(scopes.iter().map(|it| &**it))
            .expires(time(expires));
        match &self.claims {
            Some(claims) => authorization.claims_json(&**claims),
            None => authorization,
        }
    }
}

impl fmt::Debug for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("User").field("principal", &self.principal).finish_non_exhaustive()
    }
}
