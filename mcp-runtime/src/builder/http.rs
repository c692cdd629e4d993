//! What an author or an operator says of the HTTP endpoint.

#[cfg(feature = "auth")]
use std::sync::Arc;

use super::{Builder, network::Network};
#[cfg(feature = "auth")]
use crate::auth::ProtectedResource;

#[derive(Clone, Debug)]
pub(crate) struct HttpSettings {
    pub(crate) path: String,
    /// Lower case, with or without a port.
    pub(crate) hosts: Vec<String>,
    /// Lower case.
    pub(crate) origins: Vec<String>,
    pub(crate) legacy_sse: bool,
    /// Who is believed about where requests come from.
    pub(crate) proxies: Vec<Network>,
    /// Whose callers need a token.
    #[cfg(feature = "auth")]
    pub(crate) protected: Option<Arc<ProtectedResource>>,
}

impl Default for HttpSettings {
    fn default() -> Self {
        Self {
            path: "/mcp".to_owned(),
            hosts: Vec::new(),
            origins: Vec::new(),
            legacy_sse: false,
            proxies: Vec::new(),
            #[cfg(feature = "auth")]
            protected: None,
        }
    }
}

impl HttpSettings {
    /// The address beside the endpoint's whose last segment is this.
    pub(crate) fn sibling(&self, name: &str) -> String {
        let parent = self.path.rfind('/').map_or("", |at| &self.path[..at]);
        format!("{parent}/{name}")
    }
}

impl Builder {
    /// The path of the endpoint over HTTP, `/mcp` unless said. A service that is mounted in an application answers wherever
    /// it is mounted.
    /// [`build`](Builder::build) refuses one that does not begin with `/`, or that no URL could have.
    #[must_use]
    #[track_caller]
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.http.path = path.into();
        if let Some(problem) = path_problem(&self.http.path) {
            self.refuse("path", problem);
        }
        self
    }

    /// Answers to this host too, with any port or with the one that is given: `api.example.com`.
    ///
    /// A server that listens on the loopback interface answers to `localhost` and loopback addresses, any other one also
    /// to addresses in general: every other name must be allowed, because a page of another site can give such a name to
    /// this machine (DNS rebinding). A service that is mounted in an application does not know where that listens, and
    /// counts as on loopback.
    #[must_use]
    #[track_caller]
    pub fn allow_host(mut self, host: &str) -> Self {
        if let Some(problem) = host_problem(host) {
            self.refuse("allow_host", problem);
        }
        self.http.hosts.push(host.to_ascii_lowercase());
        self
    }

    /// Lets pages of this origin call the server: `https://app.example.com`. `*` lets all in.
    ///
    /// Unless said, these are the pages that come from the server's own host and port, and for a host on loopback all
    /// others on loopback.
    #[must_use]
    #[track_caller]
    pub fn allow_origin(mut self, origin: &str) -> Self {
        if let Some(problem) = origin_problem(origin) {
            self.refuse("allow_origin", problem);
        }
        self.http.origins.push(origin.trim_end_matches('/').to_ascii_lowercase());
        self
    }

    /// Believes the reverse proxy at this address, or all in this network, about where requests come from: `127.0.0.1`, `10.0.0.0/8`,
    /// `2001:db8::/32`. May be said several times.
    ///
    /// Limits count by address where nothing else is known of a caller ([`rate`](Self::rate), logins of an `AuthorizationServer`). Behind a proxy
    /// all callers have the proxy's address, and one of them takes the rate of all, unless the proxy is named here: then a request comes from the
    /// last address in its `X-Forwarded-For` that is not itself named. What stands before that was written by whoever called, and counts for nothing;
    /// where the header is missing, or something in it is no address, the nearest address that is known counts.
    ///
    /// The proxy has to add to that header, or to replace it: behind one that passes it on as it came, every client chooses its address. Most add
    /// unasked; HAProxy needs `option forwardfor`, and nginx a line of its configuration:
    ///
    /// ```nginx
    /// location /mcp {
    ///     proxy_pass http://127.0.0.1:8000;
    ///     proxy_http_version 1.1;
    ///     proxy_buffering off;
    ///     proxy_set_header Host $host;
    ///     proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
    /// }
    /// ```
    ///
    /// ```
    /// let server = mcp_runtime::server!().allow_host("api.example.com").trust_proxy("127.0.0.1");
    /// # let _ = server;
    /// ```
    ///
    /// Name no more than the proxies: who calls from a network that is named, without a proxy between, may say any address. The header `Forwarded`
    /// (RFC 7239) is not read: a proxy that sets one of the two passes the other on as the client sent it.
    /// [`build`](Self::build) refuses what is no address or network, or all of them.
    #[must_use]
    #[track_caller]
    pub fn trust_proxy(mut self, network: &str) -> Self {
        match Network::parse(network) {
            Ok(network) => self.http.proxies.push(network),
            Err(problem) => self.refuse("trust_proxy", problem),
        }
        self
    }

    /// Serves the HTTP+SSE transport of 2024-11-05 beside the endpoint: at `/sse` and `/message`, when the endpoint is
    /// `/mcp`. New clients do not need it.
    #[must_use]
    pub fn legacy_sse(mut self, serve: bool) -> Self {
        self.http.legacy_sse = serve;
        self
    }
}

/// What stands where only letters of URLs can, and nothing that ends a path.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|it| it.is_ascii_graphic() && !b"?#\"<>\\^`{|}".contains(&it))
}

/// Why no request could be for this path.
pub(crate) fn path_problem(path: &str) -> Option<String> {
    if !path.starts_with('/') {
        Some(format!("`{path}` does not begin with `/`"))
    } else if !is_plain(path) {
        Some(format!("`{path}` is no path of a URL: no spaces, `?`, `#` or letters beyond ASCII"))
    } else {
        None
    }
}

/// Why no `Host` could be this one.
pub(crate) fn host_problem(host: &str) -> Option<String> {
    let bare = host.split_once("://").map_or(host, |it| it.1);
    let bare = bare.split('/').next().unwrap_or(bare);
    if bare == "*" || bare.contains('*') {
        Some(format!("`{host}` stands for many hosts: name each of them"))
    } else if bare.is_empty() || !is_plain(bare) {
        Some(format!("`{host}` is no name of a host, such as `api.example.com`"))
    } else if bare != host {
        Some(format!("`{host}` is a URL, and a host is the name in it: write `{bare}`"))
    } else {
        None
    }
}

/// Why no page could be of this origin.
pub(crate) fn origin_problem(origin: &str) -> Option<String> {
    if matches!(origin, "*" | "null") {
        return None;
    }
    let Some((scheme, rest)) = origin.split_once("://") else {
        return Some(format!(
            "`{origin}` is no origin, which has a scheme: write `https://{origin}`"
        ));
    };
    let rest = rest.trim_end_matches('/');
    let host = rest.split('/').next().unwrap_or(rest);
    if host.contains('*') {
        Some(format!(
            "`{origin}` stands for many origins: name each of them, or let all in with `*`"
        ))
    } else if host.is_empty() || !is_plain(host) {
        Some(format!("`{origin}` is no origin, such as `https://app.example.com`"))
    } else if host != rest {
        Some(format!("`{origin}` has a path, and an origin has none: write `{scheme}://{host}`"))
    } else {
        None
    }
}
