//! Data about a caller that has sent an access token.

use std::{
    any::{Any, TypeId},
    fmt,
    sync::{Arc, atomic::AtomicBool},
    time::{Duration, SystemTime},
};

use mcp_runtime_wire::{ObjectWriter, Raw, validate};
use serde::de::{DeserializeOwned, IgnoredAny};

use super::Principal;
use crate::{
    error::{Error, Result},
    model::millis,
};

/// Verified caller: its principal, the scopes that it has been granted, and its claims.
///
/// A [`TokenVerifier`](crate::auth::TokenVerifier) returns an `Authorization` for a valid access token. Policies get the `Authorization`
/// itself, and handlers take [`Auth`](crate::auth::Auth) as a parameter.
///
/// ```
/// use mcp_runtime::{
///     auth::{Auth, Authorization},
///     prelude::*,
/// };
///
/// #[data]
/// struct Account {
///     plan: String,
/// }
///
/// /// Returns the plan of the caller.
/// #[tool(read_only)]
/// fn plan(caller: Auth<Account>) -> String {
///     caller.plan.clone()
/// }
///
/// let ada = Authorization::new("ada")
///     .scopes(["notes:read"])
///     .claims(Account { plan: "free".into() });
/// assert!(ada.has_scope("notes:read"));
/// ```
///
/// Instead of a verifier, middleware of the surrounding application may insert an `Authorization` into the extensions of the HTTP request.
/// The request then belongs to the principal of the `Authorization`, unless the extensions also contain a [`Principal`].
///
/// Specification: Base protocol, Authorization.
#[derive(Clone)]
pub struct Authorization {
    principal: Principal,
    scopes: Arc<[Box<str>]>,
    /// The server's hierarchy of scopes.
    hierarchy: Option<Arc<Hierarchy>>,
    claims: CallerClaims,
    expires: Option<SystemTime>,
    /// Whether the token was revoked. `None` for a token that cannot be revoked.
    revoked: Option<Arc<AtomicBool>>,
    /// Access token of the upstream provider.
    upstream: Option<Arc<str>>,
}

#[derive(Clone)]
enum CallerClaims {
    None,
    Json(Arc<str>),
    Typed(Arc<dyn Any + Send + Sync>),
    /// Claims that were lost in a restart, because they could not be stored.
    Lost,
}

/// Maximum nesting depth of stored claims.
const DEEPEST: usize = 128;

impl Authorization {
    /// Creates the authorization of the principal with this name, which must be unique among callers. The server rejects a caller with an
    /// empty name.
    pub fn new(principal: impl Into<Arc<str>>) -> Self {
        let principal = Principal::new(principal);
        Self {
            principal,
            scopes: Arc::default(),
            hierarchy: None,
            claims: CallerClaims::None,
            expires: None,
            revoked: None,
            upstream: None,
        }
    }

    /// Sets the scopes that the caller has been granted. Default: none.
    #[must_use]
    pub fn scopes<S: Into<Box<str>>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// Sets further data about the caller, which handlers get as [`Auth<T>`](crate::auth::Auth). For that, `T` implements `Deserialize`, as a
    /// type with `#[data]` does.
    ///
    /// This data is not stored. If a stored task continues after a restart of the server, the data is lost. Claims set with
    /// [`claims_json`](Self::claims_json) survive a restart.
    #[must_use]
    pub fn claims<T: Send + Sync + 'static>(mut self, claims: T) -> Self {
        self.claims = CallerClaims::Typed(Arc::new(claims));
        self
    }

    /// Sets the claims as the text of a JSON object, such as the payload of a token. [`Auth<T>`](crate::auth::Auth) deserializes a `T` from
    /// the text.
    #[must_use]
    pub fn claims_json(mut self, claims: impl Into<Arc<str>>) -> Self {
        self.claims = CallerClaims::Json(claims.into());
        self
    }

    /// Sets the time at which the token expires. From then on the server rejects the token, even if the verifier has cached it. By default
    /// the token does not expire.
    #[must_use]
    pub fn expires(mut self, at: SystemTime) -> Self {
        self.expires = Some(at);
        self
    }

    /// Returns the name of the caller, which is unique among callers. Use it as the key of data that belongs to one user.
    ///
    /// [`Auth::principal`](crate::auth::Auth::principal) returns the same name to handlers. Handlers and policies never get a caller with an
    /// empty name.
    pub fn principal(&self) -> &str {
        self.principal.as_str()
    }

    /// Returns the principal, for the extensions of a request.
    pub(crate) fn identity(&self) -> &Principal {
        &self.principal
    }

    /// Returns the scopes that the caller has been granted.
    pub fn granted(&self) -> impl Iterator<Item = &str> {
        self.scopes.iter().map(|scope| &**scope)
    }

    /// Returns whether the caller has been granted this scope, or a scope that [implies](crate::auth::ProtectedResource::implies) it.
    pub fn has_scope(&self, scope: &str) -> bool {
        let is_granted = |scope: &str| self.granted().any(|granted| granted == scope);
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

    /// Returns the access token of the upstream provider, for requests to that provider on behalf of the caller. `None` if the server does
    /// not use `Upstream::hand_over`.
    pub fn upstream_token(&self) -> Option<&str> {
        self.upstream.as_deref()
    }

    /// Returns whether [`keep`](Self::keep) writes everything that handlers and policies may ask for.
    #[cfg(feature = "http")]
    pub(crate) fn can_be_kept(&self) -> bool {
        let are_claims_kept = match &self.claims {
            CallerClaims::None => true,
            CallerClaims::Json(text) => validate(text.as_bytes(), DEEPEST).is_ok(),
            CallerClaims::Typed(_) | CallerClaims::Lost => false,
        };
        are_claims_kept && self.upstream.is_none()
    }

    /// Serializes the data that a call needs to run again after a restart. The data does not include the token.
    pub(crate) fn keep(&self) -> Box<str> {
        let mut text = Vec::new();
        let mut object = ObjectWriter::begin(&mut text);
        object.str("principal", self.principal.as_str());
        let mut scopes = object.array("scopes");
        self.granted().for_each(|scope| _ = scopes.str(scope));
        scopes.end();
        if let Some(since) = self.expires.map(|time| time.duration_since(SystemTime::UNIX_EPOCH)) {
            object.u64("expires", millis(since.unwrap_or_default()));
        }
        match &self.claims {
            CallerClaims::None => {}
            // The text comes from the author's verifier, and may be invalid.
            CallerClaims::Json(text) => match validate(text.as_bytes(), DEEPEST) {
                Ok(claims) => drop(object.raw("claims", claims.as_str())),
                Err(_) => drop(object.bool("lost", true)),
            },
            CallerClaims::Typed(_) | CallerClaims::Lost => drop(object.bool("lost", true)),
        }
        object.end();
        String::from_utf8(text).unwrap_or_default().into()
    }

    /// Reads an authorization from the text that `keep` returns.
    pub(crate) fn kept(text: &str) -> Option<Self> {
        let raw = validate(text.as_bytes(), 2 * DEEPEST).ok()?;
        let [principal, scopes, expires, claims, lost] =
            raw.pick(["principal", "scopes", "expires", "claims", "lost"]);
        let mut authorization = Self::new(&*principal?.string()?);
        let scopes: Vec<Box<str>> = serde_json::from_str(scopes?.as_str()).ok()?;
        authorization.scopes = scopes.into();
        let since = |millis: Raw<'_>| millis.u64().map(Duration::from_millis);
        authorization.expires =
            expires.and_then(since).and_then(|since| SystemTime::UNIX_EPOCH.checked_add(since));
        authorization.claims = match claims {
            Some(claims) => CallerClaims::Json(claims.as_str().into()),
            None if lost.is_some() => CallerClaims::Lost,
            None => CallerClaims::None,
        };
        Some(authorization)
    }

    /// Reads the claims as a `C`.
    pub(crate) fn read_claims<C: DeserializeOwned + Send + Sync + 'static>(
        &self,
    ) -> Result<Arc<C>> {
        let text = match &self.claims {
            // A plain `Auth` is an `Auth<IgnoredAny>`, and needs no claims.
            _ if TypeId::of::<C>() == TypeId::of::<IgnoredAny>() => "null",
            CallerClaims::Typed(claims) => {
                return claims.clone().downcast().map_err(|_| {
                    let name = std::any::type_name::<C>();
                    Error::internal(format!(
                        "the verifier does not provide claims of type `{name}`"
                    ))
                });
            }
            CallerClaims::Json(text) => text,
            CallerClaims::None => "{}",
            CallerClaims::Lost => {
                let lost = "the server has restarted since the call began, and has lost the claims of its caller: call again";
                return Err(Error::msg(lost));
            }
        };
        serde_json::from_str(text).map(Arc::new).map_err(|error| {
            let name = std::any::type_name::<C>();
            // Serde's message would quote the value. Claims are private to the caller, so the error contains only the position.
            let place = error.column();
            Error::internal(format!(
                "the token's claims cannot be read as `{name}` (at byte {place})"
            ))
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

/// Scopes that imply narrower scopes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hierarchy {
    /// Pairs of a broader and a narrower scope.
    implied: Vec<(Box<str>, Box<str>)>,
}

impl Hierarchy {
    /// Declares that a grant of `broad` includes `narrow`.
    pub(crate) fn imply(&mut self, broad: &str, narrow: &str) {
        self.implied.push((broad.into(), narrow.into()));
    }

    pub(crate) fn scopes(&self) -> impl Iterator<Item = &str> {
        self.implied.iter().flat_map(|(broad, narrow)| [&**broad, &**narrow])
    }

    /// Returns the hierarchy, or `None` if it is empty.
    pub(crate) fn shared(&self) -> Option<Arc<Self>> {
        (!self.implied.is_empty()).then(|| Arc::new(self.clone()))
    }

    /// Returns whether a granted scope is `needed`, or implies `needed` directly or through other scopes.
    pub(crate) fn satisfies(&self, is_granted: impl Fn(&str) -> bool, needed: &str) -> bool {
        let mut reached = vec![needed];
        let mut position = 0;
        // The list grows during the loop. Each scope is added once, so the loop ends even if the hierarchy has a cycle.
        while let Some(narrow) = reached.get(position).copied() {
            position += 1;
            if is_granted(narrow) {
                return true;
            }
            for (broad, other) in &self.implied {
                if **other == *narrow && !reached.contains(&&**broad) {
                    reached.push(broad);
                }
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn hierarchy(pairs: &[(&str, &str)]) -> Hierarchy {
        let mut made = Hierarchy::default();
        pairs.iter().for_each(|(broad, narrow)| made.imply(broad, narrow));
        made
    }

    #[test]
    fn a_broader_scope_implies_a_narrower_scope_but_not_vice_versa() {
        let made = hierarchy(&[("admin", "write"), ("write", "read"), ("a", "b"), ("b", "a")]);
        let check = |granted: &str, needed: &str, expected: bool| {
            assert_eq!(
                made.satisfies(|scope| scope == granted, needed),
                expected,
                "{granted} {needed}"
            );
        };
        check("admin", "read", true);
        check("admin", "admin", true);
        check("write", "read", true);
        check("read", "write", false);
        check("a", "b", true);
        check("b", "a", true);
        check("a", "read", false);
        check("other", "other", true);
    }

    proptest! {
        /// Compares random hierarchies, which may have cycles, with the transitive closure of their pairs.
        #[test]
        fn a_scope_hierarchy_is_the_transitive_closure_of_its_pairs(pairs in prop::collection::vec((0..6_usize, 0..6_usize), 0..14)) {
            const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];
            let named: Vec<_> = pairs.iter().map(|(a, b)| (NAMES[*a], NAMES[*b])).collect();
            let made = hierarchy(&named);
            let mut closure = [[false; 6]; 6];
            (0..6).for_each(|at| closure[at][at] = true);
            for _ in 0..6 {
                for (broad, narrow) in &pairs {
                    let more = closure[*narrow];
                    closure[*broad].iter_mut().zip(more).for_each(|(reached, more)| *reached |= more);
                }
            }
            for broad in 0..6 {
                for narrow in 0..6 {
                    let found = made.satisfies(|scope| scope == NAMES[broad], NAMES[narrow]);
                    prop_assert_eq!(found, closure[broad][narrow], "{} {}", broad, narrow);
                }
            }
        }
    }
}
