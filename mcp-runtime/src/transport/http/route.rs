//! Routes of the HTTP server: which URL path leads to what.

#[cfg(feature = "auth")]
use crate::authorization::{ProtectedResource, WELL_KNOWN};
use crate::server::HttpSettings;

/// Last path segment of the URL where clients of protocol revision 2024-11-05 open their stream.
pub(super) const SSE_STREAM: &str = "sse";
/// Last segment of the address to which a client of protocol revision 2024-11-05 posts its messages.
pub(super) const SSE_POST: &str = "message";
/// Last path segment of the URL of the playground.
#[cfg(feature = "playground")]
pub(super) const PLAYGROUND: &str = "playground";
/// Last path segment of the URL of the document in which the playground shows a view.
#[cfg(feature = "playground")]
pub(super) const PLAYGROUND_VIEW: &str = "playground-view";

/// Address that a request was sent to.
#[derive(Clone, Copy)]
pub(super) enum HttpRoute {
    Endpoint,
    SseStream,
    SsePost,
    Health,
    Readiness,
    /// Any address except the health checks, while every connection is in use.
    Full,
    /// Document that tells clients how to get a token.
    #[cfg(feature = "auth")]
    Metadata,
    /// Page of the authorization server. The flag is true if scripts of other origins may read the response.
    #[cfg(feature = "auth")]
    AuthPage(bool),
    #[cfg(feature = "playground")]
    Playground,
    #[cfg(feature = "playground")]
    PlaygroundView,
    /// A path that this server does not serve.
    Unknown,
}

impl HttpRoute {
    /// Returns the address for a path that an application has routed to the service.
    pub(super) fn of_mounted(settings: &HttpSettings, path: &str) -> Self {
        #[cfg(feature = "auth")]
        if let Some(route) = of_protected(settings, path) {
            return route;
        }
        match path.rsplit('/').next().unwrap_or_default() {
            SSE_STREAM if settings.legacy_sse => Self::SseStream,
            SSE_POST if settings.legacy_sse => Self::SsePost,
            #[cfg(feature = "playground")]
            PLAYGROUND if settings.playground.is_served => Self::Playground,
            #[cfg(feature = "playground")]
            PLAYGROUND_VIEW if settings.playground.is_served => Self::PlaygroundView,
            _ => Self::Endpoint,
        }
    }

    /// Returns the address to use while every connection is in use: `Full`, except for health checks.
    pub(super) fn when_full(self) -> Self {
        if let Self::Health | Self::Readiness = self { self } else { Self::Full }
    }

    /// Returns the address for a path of the built-in server.
    #[inline]
    pub(super) fn of_path(settings: &HttpSettings, path: &str) -> Self {
        let is_sibling = |name| settings.legacy_sse && path == settings.sibling(name);
        match path {
            _ if path == settings.path => Self::Endpoint,
            "/healthz" => Self::Health,
            "/readyz" => Self::Readiness,
            _ if is_sibling(SSE_STREAM) => Self::SseStream,
            _ if is_sibling(SSE_POST) => Self::SsePost,
            #[cfg(feature = "playground")]
            _ if settings.playground.is_served && path == settings.sibling(PLAYGROUND) => {
                Self::Playground
            }
            #[cfg(feature = "playground")]
            _ if settings.playground.is_served && path == settings.sibling(PLAYGROUND_VIEW) => {
                Self::PlaygroundView
            }
            #[cfg(feature = "auth")]
            _ => of_protected(settings, path).unwrap_or(Self::Unknown),
            #[cfg(not(feature = "auth"))]
            _ => Self::Unknown,
        }
    }
}

/// Returns the address for a path that authorization adds: the metadata, or a page of the authorization server.
#[cfg(feature = "auth")]
fn of_protected(settings: &HttpSettings, path: &str) -> Option<HttpRoute> {
    let protected = settings.protected.as_ref()?;
    if protected.is_metadata(path, &settings.path) || is_sse_metadata(settings, protected, path) {
        return Some(HttpRoute::Metadata);
    }
    #[cfg(feature = "auth")]
    if let Some(pages) = protected.pages().filter(|pages| pages.is_here(path)) {
        return Some(HttpRoute::AuthPage(pages.is_for_scripts(path)));
    }
    None
}

/// Whether this is the path of the metadata document of the HTTP+SSE transport.
#[cfg(feature = "auth")]
pub(super) fn is_sse_metadata(
    settings: &HttpSettings,
    protected: &ProtectedResource,
    path: &str,
) -> bool {
    path.strip_prefix(WELL_KNOWN).is_some_and(|rest| {
        settings.legacy_sse && protected.is_pair_resource() && rest == settings.sibling(SSE_STREAM)
    })
}

/// Returns all paths that an application has to route to the server.
#[cfg(feature = "axum")]
pub(super) fn paths(settings: &HttpSettings) -> Vec<String> {
    let mut paths = vec![settings.path.clone()];
    if settings.legacy_sse {
        paths.extend([SSE_STREAM, SSE_POST].map(|name| settings.sibling(name)));
    }
    #[cfg(feature = "playground")]
    if settings.playground.is_served {
        paths.extend([PLAYGROUND, PLAYGROUND_VIEW].map(|name| settings.sibling(name)));
    }
    #[cfg(feature = "auth")]
    if let Some(protected) = &settings.protected {
        paths.extend(protected.metadata_paths(&settings.path));
        if settings.legacy_sse && protected.is_pair_resource() {
            paths.push(format!("{WELL_KNOWN}{}", settings.sibling(SSE_STREAM)));
        }
        #[cfg(feature = "auth")]
        paths.extend(protected.pages().map(|pages| pages.paths()).unwrap_or_default());
    }
    paths
}
