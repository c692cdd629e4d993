//! Data about a caller that has shown an access token.

use std::{
    any::{Any, TypeId},
    fmt,
    ops::Deref,
    sync::{Arc, atomic::AtomicBool},
    time::{Duration, SystemTime},
};

use serde::de::{DeserializeOwned, IgnoredAny};

use super::{Carrier, Context, Hierarchy, Principal};
use crate::{
    call::extract::FromCall,
    error::{Error, Kind, Result},
    model::millis,
    wire::{Object, Raw, validate},
};

/// A caller, as verified by a [`TokenVerifier`](crate::TokenVerifier). Handlers see it as [`Auth`].
///
/// ```
/// use mcp_runtime::Authorization;
///
/// #[derive(Clone)]
/// struct Account {
///     plan: String,
/// }
///
/// let ada = Authorization::new("ada").scopes(["notes:read"]).claims(Account { plan: "free".into() });
/// assert!(ada.has_scope("notes:read"));
/// ```
///
/// Instead of a verifier, middleware of the surrounding application may insert an `Authorization` into the extensions of the HTTP request.
/// The request then belongs to the principal of the `Authorization`, unless there is a [`Principal`] beside it.
#[derive(Clone)]
pub struct Authorization {
    principal: Principal,
    scopes: Arc<[Box<str>]>,
    /// The server's hierarchy of scopes.
    hierarchy: Option<Arc<Hierarchy>>,
    claims: Claims,
    expires: Option<SystemTime>,
    /// Whether the token was revoked. `None` for a token that cannot be revoked.
    revoked: Option<Arc<AtomicBool>>,
    /// Access token of the upstream provider.
    upstream: Option<Arc<str>>,
}

#[derive(Clone)]
enum Claims {
    None,
    Json(Arc<str>),
    Typed(Arc<dyn Any + Send + Sync>),
    /// Claims that could not be kept over a restart.
    Lost,
}

/// Maximum depth of the claims that are kept.
const DEEPEST: usize = 128;

impl Authorization {
    /// Creates the authorization of the principal with this name, which must be unique. Callers with an empty name are rejected.
    pub fn new(principal: impl Into<Arc<str>>) -> Self {
        let principal = Principal::new(principal);
        Self {
            principal,
            scopes: Arc::default(),
            hierarchy: None,
            claims: Claims::None,
            expires: None,
            revoked: None,
            upstream: None,
        }
    }

    /// Sets the scopes that the caller has been granted.
    #[must_use]
    pub fn scopes<S: Into<Box<str>>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// Sets further data about the caller. Handlers take it as [`Auth<T>`](Auth).
    #[must_use]
    pub fn claims<T: Send + Sync + 'static>(mut self, claims: T) -> Self {
        self.claims = Claims::Typed(Arc::new(claims));
        self
    }

    /// Sets the claims as the text of a JSON object, such as the payload of a token. [`Auth<T>`](Auth) reads a `T` from it.
    #[must_use]
    pub fn claims_json(mut self, claims: impl Into<Arc<str>>) -> Self {
        self.claims = Claims::Json(claims.into());
        self
    }

    /// Sets the time at which the token expires. The server rejects the token from then on, however long the verifier caches it.
    #[must_use]
    pub fn expires(mut self, at: SystemTime) -> Self {
        self.expires = Some(at);
        self
    }

    /// Returns the principal.
    pub fn principal(&self) -> &Principal {
        &self.principal
    }

    /// Returns the scopes that the caller has been granted.
    pub fn granted(&self) -> impl Iterator<Item = &str> {
        self.scopes.iter().map(|it| &**it)
    }

    /// Returns whether the caller has been granted this scope, or a scope that [implies](crate::ProtectedResource::implies) it.
    pub fn has_scope(&self, scope: &str) -> bool {
        let is_granted = |scope: &str| self.granted().any(|it| it == scope);
        match &self.hierarchy {
            Some(hierarchy) => hierarchy.satisfies(is_granted, scope),
            None => is_granted(scope),
        }
    }

    /// Sets the server's hierarchy of scopes.
    pub(crate) fn under(self, hierarchy: Option<Arc<Hierarchy>>) -> Self {
        Self { hierarchy, ..self }
    }

    /// Returns the time at which the token expires, if it is known.
    pub fn expiry(&self) -> Option<SystemTime> {
        self.expires
    }

    /// Returns the flag that tells whether the token was revoked. `None` for a token that cannot be revoked.
    #[doc(hidden)]
    pub fn revoked(&self) -> Option<&Arc<AtomicBool>> {
        self.revoked.as_ref()
    }

    /// Sets the flag that tells whether the token was revoked.
    #[doc(hidden)]
    #[must_use]
    pub fn revocable(mut self, revoked: Arc<AtomicBool>) -> Self {
        self.revoked = Some(revoked);
        self
    }

    /// Sets the access token of the upstream provider.
    #[doc(hidden)]
    #[must_use]
    pub fn with_upstream_token(mut self, token: Arc<str>) -> Self {
        self.upstream = Some(token);
        self
    }

    /// Returns the access token of the upstream provider, for requests to that provider in the caller's name. Only servers with
    /// `Upstream::hand_over` have it.
    pub fn upstream_token(&self) -> Option<&str> {
        self.upstream.as_deref()
    }

    /// Serializes the data that a call needs to run again after a restart. The token is not part of it.
    pub(crate) fn keep(&self) -> Box<str> {
        let mut text = Vec::new();
        let mut object = Object::begin(&mut text);
        object.str("principal", self.principal.as_str());
        let mut scopes = object.array("scopes");
        self.granted().for_each(|it| _ = scopes.str(it));
        scopes.end();
        if let Some(since) = self.expires.map(|it| it.duration_since(SystemTime::UNIX_EPOCH)) {
            object.u64("expires", millis(since.unwrap_or_default()));
        }
        match &self.claims {
            Claims::None => {}
            // The text comes from the author's verifier, and may be invalid.
            Claims::Json(text) => match validate(text.as_bytes(), DEEPEST) {
                Ok(claims) => drop(object.raw("claims", claims.as_str())),
                Err(_) => drop(object.bool("lost", true)),
            },
            Claims::Typed(_) | Claims::Lost => drop(object.bool("lost", true)),
        }
        object.end();
        String::from_utf8(text).unwrap_or_default().into()
    }

    /// Reads the text of `keep`.
    pub(crate) fn kept(text: &str) -> Option<Self> {
        let raw = validate(text.as_bytes(), 2 * DEEPEST).ok()?;
        let [principal, scopes, expires, claims, lost] =
            raw.pick(["principal", "scopes", "expires", "claims", "lost"]);
        let mut it = Self::new(&*principal?.string()?);
        let scopes: Vec<Box<str>> = serde_json::from_str(scopes?.as_str()).ok()?;
        it.scopes = scopes.into();
        let since = |it: Raw<'_>| it.u64().map(Duration::from_millis);
        it.expires = expires.and_then(since).and_then(|it| SystemTime::UNIX_EPOCH.checked_add(it));
        it.claims = match claims {
            Some(claims) => Claims::Json(claims.as_str().into()),
            None if lost.is_some() => Claims::Lost,
            None => Claims::None,
        };
        Some(it)
    }

    fn read<C: DeserializeOwned + Send + Sync + 'static>(&self) -> Result<Arc<C>> {
        let text = match &self.claims {
            // A plain `Auth` reads no claims.
            _ if TypeId::of::<C>() == TypeId::of::<IgnoredAny>() => "null",
            Claims::Typed(claims) => {
                return claims.clone().downcast().map_err(|_| {
                    let name = std::any::type_name::<C>();
                    Error::internal(format!("the verifier gives no claims of type `{name}`"))
                });
            }
            Claims::Json(text) => text,
            Claims::None => "{}",
            Claims::Lost => {
                let lost = "a restart of the server came in between, and what it knew of its caller was lost: call again";
                return Err(Error::msg(lost));
            }
        };
        serde_json::from_str(text).map(Arc::new).map_err(|error| {
            let name = std::any::type_name::<C>();
            // Serde's message quotes the value, and claims are private to the caller.
            let place = error.column();
            Error::internal(format!("the token's claims are no `{name}` (at byte {place})"))
        })
    }
}

impl fmt::Debug for Authorization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Authorization")
            .field("principal", &self.principal)
            .field("scopes", &self.scopes)
            .finish_non_exhaustive()
    }
}

impl Carrier {
    /// Returns the authorization of the caller.
    pub(crate) fn authorization(&self) -> Option<&Authorization> {
        let of_request = || self.http.as_ref()?.extensions.get();
        self.authorization.as_deref().or_else(of_request)
    }
}

/// Parameter for the caller: the [`Authorization`] of its access token, with the claims of the token as a `C`.
///
/// ```
/// use mcp_runtime::{Auth, prelude::*};
///
/// #[data]
/// struct Claims {
///     email: Option<String>,
/// }
///
/// /// Says where letters to the caller go.
/// #[tool]
/// fn address(caller: Auth<Claims>) -> String {
///     caller.email.clone().unwrap_or_else(|| caller.principal().to_owned())
/// }
///
/// /// Greets whoever calls.
/// #[tool]
/// fn greet(caller: Option<Auth>) -> String {
///     format!("Hello, {}!", caller.as_ref().map_or("stranger", Auth::principal))
/// }
/// # fn main() {}
/// ```
///
/// A call without an authorization fails. This includes calls over stdio, where credentials come from the environment. `Option<Auth<C>>` is
/// `None` instead. Claims that are not a `C` are an internal error.
pub struct Auth<C = IgnoredAny> {
    authorization: Authorization,
    claims: Arc<C>,
}

impl<C> Auth<C> {
    /// Returns the caller's name.
    pub fn principal(&self) -> &str {
        self.authorization.principal.as_str()
    }

    /// Returns whether the caller has been granted this scope, or a scope that [implies](crate::ProtectedResource::implies) it.
    pub fn has_scope(&self, scope: &str) -> bool {
        self.authorization.has_scope(scope)
    }

    /// Returns all data about the caller.
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
        let nobody = "only a caller who has shown an access token, over HTTP, may do this";
        Option::<Self>::from_call(context)?.ok_or_else(|| Error::of(Kind::InvalidRequest, nobody))
    }
}

#[diagnostic::do_not_recommend]
impl<C: DeserializeOwned + Send + Sync + 'static> FromCall<'_> for Option<Auth<C>> {
    fn from_call(context: &Context) -> Result<Self> {
        let authorization = context.0.caller.carrier.authorization();
        let Some(authorization) = authorization else { return Ok(None) };
        Ok(Some(Auth { authorization: authorization.clone(), claims: authorization.read()? }))
    }
}
