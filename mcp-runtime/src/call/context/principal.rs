//! Identity of a caller.

use std::{fmt, sync::Arc};

/// The identity of a caller, as established by the application in front of the server.
///
/// Middleware inserts it into the extensions of the HTTP request. Sessions and tasks that the caller begins then belong to this principal
/// alone, and so does the state between the rounds of a call.
///
/// ```
/// use mcp_runtime::auth::Principal;
///
/// # #[cfg(feature = "http")]
/// fn identified<B>(mut request: http::Request<B>) -> http::Request<B> {
///     request.extensions_mut().insert(Principal::new("alice"));
///     request
/// }
/// # let _ = Principal::new("alice");
/// ```
///
/// Requests without a principal, or with an empty name, are anonymous. The server does not tell anonymous callers apart.
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
}

impl fmt::Debug for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Principal({:?})", &*self.0)
    }
}
