#[cfg(feature = "http")]
use std::sync::Arc;

/// What a message came in, beside its bytes: over HTTP the head of the request.
#[derive(Clone, Default)]
pub(crate) struct Carrier {
    #[cfg(feature = "http")]
    pub(crate) http: Option<Arc<http::request::Parts>>,
}

impl Carrier {
    /// Whether the client showed who it is, so that its answers are not everybody's (CACHE-03).
    pub(crate) fn is_authenticated(&self) -> bool {
        #[cfg(feature = "http")]
        return !self.principal().is_empty()
            || self
                .http
                .as_ref()
                .is_some_and(|it| it.headers.contains_key(http::header::AUTHORIZATION));
        #[cfg(not(feature = "http"))]
        return false;
    }
}
