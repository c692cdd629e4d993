//! [`Principal`], the identity of a caller. Sessions and tasks belong to the principal that began them.

use std::{fmt, sync::Arc};

/// Identity of a caller, as established by the application in front of the server.
///
/// Middleware inserts the principal into the extensions of the HTTP request. Sessions and tasks of the caller then belong to this principal
/// alone, and so does the state between the rounds of a call. If the server verifies access tokens itself (feature `auth`), the principal
/// comes from the token.
///
/// ```
/// use mcp_runtime::auth::Principal;
///
/// # #[cfg(feature = "http")]
/// fn identified<B>(mut request: http::Request<B>) -> http::Request<B> {
///     request.extensions_mut().insert(Principal::new("alice"));
///     request
/// }
/// ```
///
/// Requests without a principal, or with an empty name, are anonymous. The server does not tell anonymous callers apart.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Principal(Arc<str>);

impl Principal {
    /// Creates the principal with this name. The name must be unique, so use the ID of an account and not its display name.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self(name.into())
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Principal({:?})", &*self.0)
    }
}
