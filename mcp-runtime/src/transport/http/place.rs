#[cfg(feature = "auth")]
use super::gate;
use super::{endpoint::Endpoint, pair};

/// Address of a request at the server.
#[derive(Clone, Copy)]
pub(super) enum Place {
    Endpoint,
    PairStream,
    PairPost,
    Health,
    Readiness,
    /// Any other one while there is no connection left for it.
    Full,
    /// Where clients find out how to get a token.
    #[cfg(feature = "auth")]
    Metadata,
    /// One of those of the authorization server, and whether it is for scripts of other pages too.
    #[cfg(feature = "auth-server")]
    Beside(bool),
    /// None of them.
    Nowhere,
}

impl Place {
    /// The address that an application has routed here.
    pub(super) fn of_name(endpoint: &Endpoint, path: &str) -> Self {
        #[cfg(feature = "auth")]
        if let Some(place) = gate::place(endpoint, path) {
            return place;
        }
        match path.rsplit('/').next().unwrap_or_default() {
            pair::STREAM if endpoint.settings.legacy_sse => Self::PairStream,
            pair::POST if endpoint.settings.legacy_sse => Self::PairPost,
            _ => Self::Endpoint,
        }
    }

    /// What is left of an address when every connection is in use.
    pub(super) fn when_full(self) -> Self {
        if let Self::Health | Self::Readiness = self { self } else { Self::Full }
    }

    /// The address at a server of our own.
    #[inline]
    pub(super) fn of_path(endpoint: &Endpoint, path: &str) -> Self {
        let settings = &endpoint.settings;
        let is_sibling = |name| settings.legacy_sse && path == settings.sibling(name);
        match path {
            _ if path == settings.path => Self::Endpoint,
            "/healthz" => Self::Health,
            "/readyz" => Self::Readiness,
            _ if is_sibling(pair::STREAM) => Self::PairStream,
            _ if is_sibling(pair::POST) => Self::PairPost,
            #[cfg(feature = "auth")]
            _ => gate::place(endpoint, path).unwrap_or(Self::Nowhere),
            #[cfg(not(feature = "auth"))]
            _ => Self::Nowhere,
        }
    }
}
