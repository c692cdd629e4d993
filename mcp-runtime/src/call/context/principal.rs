use std::{fmt, sync::Arc};

use super::{Carrier, Context};

/// The identity of a caller, as found out by the application in front of the server.
///
/// Middleware inserts it into the extensions of the HTTP request. The tasks of a call and the state between its rounds then belong to this
/// principal alone. So does a session that the principal has begun.
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
/// Requests without a principal, or with an empty name, are anonymous. Anonymous callers are not told apart.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Principal(Arc<str>);

impl Principal {
    /// Creates the principal with this name. The name must be unique, so use the id of an account and not its display name.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self(name.into())
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the name of the principal in the extensions of a request. Empty if there is none.
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
    /// Returns whether clients can be told apart. A connection that is not HTTP belongs to a single client.
    pub(crate) fn is_identified(&self) -> bool {
        #[cfg(feature = "http")]
        return self.http.is_none() || !self.principal().is_empty();
        #[cfg(not(feature = "http"))]
        return true;
    }

    /// Returns the name of the principal that calls. Empty if it is not known.
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
    /// Returns the name of the principal that calls, if it is known.
    pub fn principal(&self) -> Option<&str> {
        Some(self.0.caller.carrier.principal()).filter(|it| !it.is_empty())
    }
}
