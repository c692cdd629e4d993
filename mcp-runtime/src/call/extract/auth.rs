//! [`Auth`], the parameter for the caller of an item.

use std::{fmt, ops::Deref, sync::Arc};

use serde::de::{DeserializeOwned, IgnoredAny};

use super::FromCall;
use crate::{
    call::context::{Authorization, Context},
    error::{Error, ErrorKind, Result},
};

/// Parameter for the caller that an access token identifies, with the claims of the token.
///
/// The claims are deserialized into `C`. A plain `Auth` does not read the claims. To decide which callers may use an item at all, use the
/// keys `scopes(…)` and `auth(…)` of its [attribute](crate::prelude::tool#keys) instead. [`Context::principal`] returns only the name of
/// the caller, and does not need the feature `auth`.
///
/// ```
/// use mcp_runtime::{auth::Auth, prelude::*};
///
/// #[data]
/// struct Claims {
///     email: Option<String>,
/// }
///
/// /// Returns the address for letters to the caller.
/// #[tool]
/// fn address(caller: Auth<Claims>) -> String {
///     caller.email.clone().unwrap_or_else(|| caller.principal().to_owned())
/// }
///
/// /// Greets the caller.
/// #[tool]
/// fn greet(caller: Option<Auth>) -> String {
///     format!("Hello, {}!", caller.as_ref().map_or("stranger", Auth::principal))
/// }
/// # fn main() {}
/// ```
///
/// A call without an authorization fails before the handler runs. Calls over stdio have no authorization, because their credentials come
/// from the environment. For such calls, a parameter `Option<Auth<C>>` is `None`. Claims that cannot be read as a `C` cause an internal
/// error.
///
/// Specification: Base protocol, Authorization.
pub struct Auth<C = IgnoredAny> {
    authorization: Authorization,
    claims: Arc<C>,
}

impl<C> Auth<C> {
    /// Returns the name of the caller, which is unique among callers. Use it as the key of data that belongs to one user.
    ///
    /// This is the name that the verifier of the token has passed to [`Authorization::new`]. It is never empty.
    pub fn principal(&self) -> &str {
        self.authorization.principal()
    }

    /// Returns whether the caller has been granted this scope, or a scope that [implies](crate::auth::ProtectedResource::implies) it.
    pub fn has_scope(&self, scope: &str) -> bool {
        self.authorization.has_scope(scope)
    }

    /// Returns the authorization, which has all data about the caller.
    pub fn authorization(&self) -> &Authorization {
        &self.authorization
    }
}

impl<C> Clone for Auth<C> {
    fn clone(&self) -> Self {
        Self { authorization: self.authorization.clone(), claims: self.claims.clone() }
    }
}

impl<C> Deref for Auth<C> {
    type Target = C;

    fn deref(&self) -> &C {
        &self.claims
    }
}

impl<C> fmt::Debug for Auth<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Auth").field(&self.authorization).finish()
    }
}

#[diagnostic::do_not_recommend]
impl<C: DeserializeOwned + Send + Sync + 'static> FromCall<'_> for Auth<C> {
    fn from_call(context: &Context) -> Result<Self> {
        let nobody = "only a caller with an access token, sent over HTTP, may do this";
        Option::<Self>::from_call(context)?
            .ok_or_else(|| Error::of(ErrorKind::InvalidRequest, nobody))
    }
}

#[diagnostic::do_not_recommend]
impl<C: DeserializeOwned + Send + Sync + 'static> FromCall<'_> for Option<Auth<C>> {
    fn from_call(context: &Context) -> Result<Self> {
        let authorization = context.0.caller.carrier.authorization();
        let Some(authorization) = authorization else { return Ok(None) };
        Ok(Some(Auth {
            authorization: authorization.clone(),
            claims: authorization.read_claims()?,
        }))
    }
}
