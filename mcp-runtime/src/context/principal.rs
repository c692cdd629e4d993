use std::{fmt, sync::Arc};

use super::{Carrier, Context};

/// Who calls, as the application in front of the server has found out: a middleware puts it among the extensions of the
/// HTTP request. What a call leaves behind, its tasks and the state between its rounds, is then this principal's alone.
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
}

impl fmt::Debug for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Principal({:?})", &*self.0)
    }
}

impl Carrier {
    /// Whose the call is; empty when nobody has found out.
    pub(crate) fn principal(&self) -> &str {
        #[cfg(feature = "http")]
        return self
            .http
            .as_ref()
            .and_then(|it| it.extensions.get::<Principal>())
            .map_or("", Principal::as_str);
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
