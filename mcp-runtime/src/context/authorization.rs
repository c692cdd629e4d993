//! What is known of a caller who has shown an access token.

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
    error::{Error, Kind, Result},
    extract::FromCall,
    model::millis,
    wire::{Object, Raw, validate},
};

/// Who calls, as a [`TokenVerifier`](crate::TokenVerifier) has found out; handlers see it as [`Auth`].
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
/// Middleware of an application that the server is mounted in may put one among the extensions of the HTTP request itself, instead of a
/// verifier; without a [`Principal`] beside it, its own is the request's.
#[derive(Clone)]
pub struct Authorization {
    principal: Principal,
    scopes: Arc<[Box<str>]>,
    /// Of the server.
    hierarchy: Option<Arc<Hierarchy>>,
    claims: Claims,
    expires: Option<SystemTime>,
    /// Of a token that can be taken back: whether it was.
    revoked: Option<Arc<AtomicBool>>,
    /// What another provider has given for it.
    #[cfg(feature = "auth-server")]
    upstream: Option<Arc<str>>,
}

#[derive(Clone)]
enum Claims {
    None,
    Json(Arc<str>),
    Typed(Arc<dyn Any + Send + Sync>),
    /// They were typed, before a restart.
    Lost,
}

/// No claims are deeper that are kept.
const DEEPEST: usize = 128;

impl Authorization {
    /// The authorization of the principal with this name, which must tell it from all others. No caller is let in whose name is empty.
    pub fn new(principal: impl Into<Arc<str>>) -> Self {
        let principal = Principal::new(principal);
        Self {
            principal,
            scopes: Arc::default(),
            hierarchy: None,
            claims: Claims::None,
            expires: None,
            revoked: None,
            #[cfg(feature = "auth-server")]
            upstream: None,
        }
    }

    /// What the caller has been granted.
    #[must_use]
    pub fn scopes<S: Into<Box<str>>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// What else is known of the caller: handlers take it as [`Auth<T>`](Auth).
    #[must_use]
    pub fn claims<T: Send + Sync + 'static>(mut self, claims: T) -> Self {
        self.claims = Claims::Typed(Arc::new(claims));
        self
    }

    /// The same as the text of a JSON object, such as the payload of a token: [`Auth<T>`](Auth) reads a `T` from it.
    #[must_use]
    pub fn claims_json(mut self, claims: impl Into<Arc<str>>) -> Self {
        self.claims = Claims::Json(claims.into());
        self
    }

    /// When the token ends: after that nobody is let in with it, however long its verifier remembers it.
    #[must_use]
    pub fn expires(mut self, at: SystemTime) -> Self {
        self.expires = Some(at);
        self
    }

    /// Who it is.
    pub fn principal(&self) -> &Principal {
        &self.principal
    }

    /// What the caller has been granted.
    pub fn granted(&self) -> impl Iterator<Item = &str> {
        self.scopes.iter().map(|it| &**it)
    }

    /// Whether the caller has been granted this, or what [implies](crate::ProtectedResource::implies) it.
    pub fn has_scope(&self, scope: &str) -> bool {
        let is_granted = |scope: &str| self.granted().any(|it| it == scope);
        match &self.hierarchy {
            Some(hierarchy) => hierarchy.satisfies(is_granted, scope),
            None => is_granted(scope),
        }
    }

    /// At a server where some scopes imply others.
    pub(crate) fn under(self, hierarchy: Option<Arc<Hierarchy>>) -> Self {
        Self { hierarchy, ..self }
    }

    /// When the token ends, where that is known.
    pub fn expiry(&self) -> Option<SystemTime> {
        self.expires
    }

    /// Of a token that can be taken back: whether it was.
    pub(crate) fn revoked(&self) -> Option<&Arc<AtomicBool>> {
        self.revoked.as_ref()
    }

    #[cfg(feature = "auth-server")]
    pub(crate) fn revocable(mut self, revoked: Arc<AtomicBool>) -> Self {
        self.revoked = Some(revoked);
        self
    }

    #[cfg(feature = "auth-server")]
    pub(crate) fn upstream(mut self, token: Arc<str>) -> Self {
        self.upstream = Some(token);
        self
    }

    /// The access token of the provider that has said who calls, where `Upstream::hand_over` lets handlers have it: for calls to that
    /// provider, in the caller's name.
    #[cfg(feature = "auth-server")]
    pub fn upstream_token(&self) -> Option<&str> {
        self.upstream.as_deref()
    }

    /// Writes down what a call needs that runs again after a restart: nobody's token.
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
            // An author's verifier may have given any text.
            Claims::Json(text) => match validate(text.as_bytes(), DEEPEST) {
                Ok(claims) => drop(object.raw("claims", claims.as_str())),
                Err(_) => drop(object.bool("lost", true)),
            },
            Claims::Typed(_) | Claims::Lost => drop(object.bool("lost", true)),
        }
        object.end();
        String::from_utf8(text).unwrap_or_default().into()
    }

    /// What was written down.
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
            // A plain `Auth` takes none, whatever they are.
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
            // Serde quotes what it cannot read, and claims are the caller's own.
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
    /// What is known of who calls.
    pub(crate) fn authorization(&self) -> Option<&Authorization> {
        let of_request = || self.http.as_ref()?.extensions.get();
        self.authorization.as_deref().or_else(of_request)
    }
}

/// Who calls, as a parameter: the [`Authorization`] that the caller's access token stands for, with what the token says as a `C`.
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
/// A call without an authorization fails, over stdio too, where credentials come from the environment; `Option<Auth<C>>` is `None` then.
/// Claims that are no `C` are an internal error.
pub struct Auth<C = IgnoredAny> {
    authorization: Authorization,
    claims: Arc<C>,
}

impl<C> Auth<C> {
    /// The caller's name.
    pub fn principal(&self) -> &str {
        self.authorization.principal.as_str()
    }

    /// Whether the caller has been granted this, or what [implies](crate::ProtectedResource::implies) it.
    pub fn has_scope(&self, scope: &str) -> bool {
        self.authorization.has_scope(scope)
    }

    /// All that is known of the caller.
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
