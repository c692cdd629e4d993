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
    /// Any other address, while no connection is left for it.
    Full,
    /// Document that tells clients how to get a token.
    #[cfg(feature = "auth")]
    Metadata,
    /// Address of the authorization server. True if scripts of other pages may read its answers.
    #[cfg(feature = "auth")]
    Beside(bool),
    /// No address of this server.
    Nowhere,
}

impl Place {
    /// Returns the address for a path that an application has routed here.
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

    /// Returns the address that is served while every connection is in use.
    pub(super) fn when_full(self) -> Self {
        if let Self::Health | Self::Readiness = self { self } else { Self::Full }
    }

    /// Returns the address for a path at a server of our own.
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
