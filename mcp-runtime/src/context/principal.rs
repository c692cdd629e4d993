use std::{fmt, sync::Arc};

use super::{Carrier, Context};

/// Who calls, as the application in front of the server has found out: a middleware puts it among the extensions of the
/// HTTP request. What a call leaves behind, its tasks and the state between its rounds, is then this principal's alone, and so
/// is a session that this principal has begun.
///
/// ```
/// use mcp_runtime::Principal;
///
/// # #[cfg(feature = "http")]
/// fn identified<B>(mut request: http::Request<B>) -> http::Request<B> {
///     request.extensions_mut().insert(Principal::new("alice"));
///     request
/// }
/// # let _ = Principal::new("alice");
/// ```
///
/// Requests without one, and with an empty name, are anybody's.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Principal(Arc<str>);

impl Principal {
    /// The principal of this name, which must tell it from all others: an account's id, not what it is called.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self(name.into())
    }

    /// Its name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whose a request with these extensions is; empty when nobody has found out.
    #[cfg(feature = "http")]
    pub(crate) fn named_in(extensions: &http::Extensions) -> &str {
        let named = extensions.get::<Self>();
        #[cfg(feature = "auth")]
        let named = named.or_else(|| extensions.get().map(super::Authorization::principal));
        named.map_or("", Self::as_str)
    }
}

impl fmt::Debug for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Principal({:?})", &*self.0)
    }
}

impl Carrier {
    /// Whether two clients could be told apart: a connection of its own is one client's.
    pub(crate) fn is_identified(&self) -> bool {
        #[cfg(feature = "http")]
        return self.http.is_none() || !self.principal().is_empty();
        #[cfg(not(feature = "http"))]
        return true;
    }

    /// Whose the call is; empty when nobody has found out.
    pub(crate) fn principal(&self) -> &str {
        #[cfg(feature = "auth")]
        if let Some(authorization) = &self.authorization {
            return authorization.principal().as_str();
        }
        #[cfg(feature = "http")]
        return self.http.as_ref().map_or("", |it| Principal::named_in(&it.extensions));
        #[cfg(not(feature = "http"))]
        return "";
    }
}

impl Context {
    /// Who calls, where the application in front of the server has found out.
    pub fn principal(&self) -> Option<&str> {
        Some(self.0.caller.carrier.principal()).filter(|it| !it.is_empty())
    }
}
