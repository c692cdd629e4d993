use std::fmt;

use serde::{Deserialize, Serialize};

use super::clock::time;
use crate::context::Authorization;

/// Who has logged in, as [`AuthorizationServer`](crate::AuthorizationServer)'s `login` says.
///
/// ```
/// use mcp_runtime::User;
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
    /// What is granted at most, where there is a limit.
    may: Option<Vec<String>>,
    /// What is wrong with it.
    #[serde(skip)]
    problem: Option<String>,
}

impl User {
    /// The user with this name, which must tell it from all others and never become another's: it is the caller's
    /// [`Principal`](crate::Principal).
    pub fn new(principal: impl Into<String>) -> Self {
        let principal = principal.into();
        let problem = principal.is_empty().then(|| "a user without a name is everybody".to_owned());
        Self { principal, name: None, claims: None, may: None, problem }
    }

    /// What pages call the user, instead of the principal's name.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// What else is known of the user: handlers take it as [`Auth<T>`](crate::Auth). It is kept as JSON for as long as the user stays
    /// signed in; what changes meanwhile belongs where the handlers look it up.
    #[must_use]
    pub fn claims(mut self, claims: &impl Serialize) -> Self {
        match serde_json::to_string(claims) {
            Ok(claims) => self.claims = Some(claims),
            Err(why) => self.problem = Some(format!("the claims are no JSON: {why}")),
        }
        self
    }

    /// Grants nothing but these scopes, whatever a client asks for. Unless said, a user may grant all that the server has.
    #[must_use]
    pub fn may_grant<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.may = Some(scopes.into_iter().map(Into::into).collect());
        self
    }

    pub(super) fn principal(&self) -> &str {
        &self.principal
    }

    pub(super) fn shown(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.principal)
    }

    pub(super) fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    pub(super) fn may(&self, scope: &str) -> bool {
        self.may.as_ref().is_none_or(|it| it.iter().any(|it| it == scope))
    }

    /// What a token of the user's lets in, until then.
    pub(super) fn authorization(&self, scopes: &[String], expires: u64) -> Authorization {
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
