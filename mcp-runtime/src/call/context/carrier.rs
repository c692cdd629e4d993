//! Data that the transport adds to a message, and the caller that the data identifies.

#[cfg(feature = "http")]
use std::{net::IpAddr, sync::Arc};

#[cfg(feature = "auth")]
use super::Authorization;
#[cfg(feature = "http")]
use super::Principal;

/// Transport data of a message: over HTTP, the head of the request.
#[derive(Clone, Default)]
pub(crate) struct Carrier {
    #[cfg(feature = "http")]
    pub(crate) http: Option<Arc<http::request::Parts>>,
    /// Address of the client, if the transport knows it.
    #[cfg(feature = "http")]
    pub(crate) address: Option<IpAddr>,
    /// Head that a test has set, with the caller among its extensions. It is not in `http`, because the test client has no HTTP requests, whose
    /// headers the server would check.
    #[cfg(feature = "http")]
    pub(crate) in_test: Option<Arc<http::request::Parts>>,
}

impl Carrier {
    /// Creates the carrier of an HTTP request.
    #[cfg(feature = "http")]
    pub(crate) fn of_request(head: &Arc<http::request::Parts>, address: Option<IpAddr>) -> Self {
        let mut carrier = Self::default();
        (carrier.http, carrier.address) = (Some(head.clone()), address);
        carrier
    }

    /// Creates the carrier of a call that runs for `owner` without a request of its own.
    pub(crate) fn of(owner: &str) -> Self {
        #[cfg(feature = "http")]
        if !owner.is_empty() {
            let (mut head, ()) = http::Request::new(()).into_parts();
            head.extensions.insert(Principal::new(owner));
            return Self { http: Some(Arc::new(head)), ..Self::default() };
        }
        let _ = owner;
        Self::default()
    }

    /// Creates the same carrier as `of`, with the caller's authorization.
    #[cfg(feature = "auth")]
    pub(crate) fn of_caller(owner: &str, authorization: Authorization) -> Self {
        let mut carrier = Self::of(owner);
        if let Some(head) = carrier.http.as_mut().and_then(Arc::get_mut) {
            head.extensions.insert(authorization);
        }
        carrier
    }

    /// Returns the data about the caller that the server stores with a call that may run again.
    pub(crate) fn kept_caller(&self) -> Option<Box<str>> {
        #[cfg(feature = "auth")]
        return self.authorization().map(Authorization::keep);
        #[cfg(not(feature = "auth"))]
        None
    }

    /// Returns the head of the HTTP request, or the head that a test has set.
    #[cfg(feature = "http")]
    pub(crate) fn head(&self) -> Option<&http::request::Parts> {
        self.http.as_deref().or(self.in_test.as_deref())
    }

    /// Returns whether the message came over HTTP. The result is also `true` for a carrier that [`of`](Self::of) has created for a named
    /// owner.
    pub(crate) fn is_http(&self) -> bool {
        #[cfg(feature = "http")]
        return self.http.is_some();
        #[cfg(not(feature = "http"))]
        return false;
    }

    /// Returns whether the server checks the rights of the caller. Over stdio it does not, because the user who has started the process may
    /// use all items.
    pub(crate) fn is_judged(&self) -> bool {
        #[cfg(feature = "auth")]
        return self.http.is_some()
            || self
                .in_test
                .as_ref()
                .is_some_and(|head| head.extensions.get::<Authorization>().is_some());
        #[cfg(not(feature = "auth"))]
        return false;
    }

    /// Returns whether the client has identified itself. If so, its responses must not be shared with other clients (rule CACHE-03).
    pub(crate) fn is_authenticated(&self) -> bool {
        #[cfg(feature = "http")]
        return !self.principal().is_empty()
            || self
                .http
                .as_ref()
                .is_some_and(|head| head.headers.contains_key(http::header::AUTHORIZATION));
        #[cfg(not(feature = "http"))]
        return false;
    }

    /// Returns whether the server can distinguish this client from others. Without HTTP it always can, because the connection belongs to a
    /// single client.
    pub(crate) fn is_identified(&self) -> bool {
        #[cfg(feature = "http")]
        return self.http.is_none() || !self.principal().is_empty();
        #[cfg(not(feature = "http"))]
        return true;
    }

    /// Returns the name of the calling principal. Empty if it is not known.
    pub(crate) fn principal(&self) -> &str {
        #[cfg(feature = "http")]
        return self.head().map_or("", |head| Principal::named_in(&head.extensions));
        #[cfg(not(feature = "http"))]
        return "";
    }

    /// Returns the authorization of the caller. Returns `None` for an authorization with an empty name, which identifies no caller.
    #[cfg(feature = "auth")]
    pub(crate) fn authorization(&self) -> Option<&Authorization> {
        let authorization = self.head()?.extensions.get();
        authorization.filter(|caller: &&Authorization| !caller.principal().is_empty())
    }
}

// This impl is not next to `Principal`, because it also reads the principal of an `Authorization`.
#[cfg(feature = "http")]
impl Principal {
    /// Returns the name of the principal in the extensions of a request. Empty if there is none.
    pub(crate) fn named_in(extensions: &http::Extensions) -> &str {
        let named = extensions.get::<Self>();
        #[cfg(feature = "auth")]
        let named = named.or_else(|| extensions.get().map(Authorization::identity));
        named.map_or("", Self::as_str)
    }
}
