#[cfg(feature = "http")]
use std::{net::IpAddr, sync::Arc};

/// What a message came in, beside its bytes: over HTTP the head of the request.
#[derive(Clone, Default)]
pub(crate) struct Carrier {
    #[cfg(feature = "http")]
    pub(crate) http: Option<Arc<http::request::Parts>>,
    /// Where it came from, as far as the transport knows.
    #[cfg(feature = "http")]
    pub(crate) address: Option<IpAddr>,
    /// Who a test says that calls; over HTTP the request says it.
    #[cfg(feature = "auth")]
    pub(crate) authorization: Option<Arc<super::Authorization>>,
}

impl Carrier {
    /// That of an HTTP request.
    #[cfg(feature = "http")]
    pub(crate) fn of_request(head: &Arc<http::request::Parts>, address: Option<IpAddr>) -> Self {
        Self { http: Some(head.clone()), address, ..Self::default() }
    }

    /// What a call comes in that runs for somebody without having been sent.
    pub(crate) fn of(owner: &str) -> Self {
        #[cfg(feature = "http")]
        if !owner.is_empty() {
            let (mut head, ()) = http::Request::new(()).into_parts();
            head.extensions.insert(super::Principal::new(owner));
            return Self { http: Some(Arc::new(head)), ..Self::default() };
        }
        let _ = owner;
        Self::default()
    }

    /// The same for a caller of whom this is known.
    #[cfg(feature = "auth")]
    pub(crate) fn of_caller(owner: &str, authorization: super::Authorization) -> Self {
        let mut it = Self::of(owner);
        if let Some(head) = it.http.as_mut().and_then(Arc::get_mut) {
            head.extensions.insert(authorization);
        }
        it
    }

    /// What is kept of who calls, for a call that may run again.
    pub(crate) fn kept_caller(&self) -> Option<Box<str>> {
        #[cfg(feature = "auth")]
        return self.authorization().map(super::Authorization::keep);
        #[cfg(not(feature = "auth"))]
        None
    }

    /// Whether the message came over HTTP.
    pub(crate) fn is_http(&self) -> bool {
        #[cfg(feature = "http")]
        return self.http.is_some();
        #[cfg(not(feature = "http"))]
        return false;
    }

    /// Whether who calls decides what it may use: over stdio whoever has started the process may use all of it.
    pub(crate) fn is_judged(&self) -> bool {
        #[cfg(feature = "auth")]
        return self.http.is_some() || self.authorization.is_some();
        #[cfg(not(feature = "auth"))]
        return false;
    }

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
