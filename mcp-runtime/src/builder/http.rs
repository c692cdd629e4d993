//! Settings for HTTP.

use super::settings::Builder;
use crate::server::{Network, host_problem, origin_problem, path_problem};

impl Builder {
    /// Sets the path of the HTTP endpoint. Default: `/mcp`. A service that is mounted in an application answers at the path where the
    /// application mounts it.
    ///
    /// [`build`](Builder::build) rejects a path that does not begin with `/`, or that is not valid in a URL.
    #[must_use]
    #[track_caller]
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.http.path = path.into();
        if let Some(problem) = path_problem(&self.http.path) {
            self.refuse("path", problem);
        }
        self
    }

    /// Accepts requests with this `Host`, such as `api.example.com`. A host without a port is accepted with any port.
    ///
    /// By default a server accepts `localhost` and loopback addresses. A server that does not listen on loopback accepts every other IP
    /// address too. Any other host name must be allowed explicitly, because a page of another site can make its own host name lead to this
    /// machine (DNS rebinding). A service that is mounted in an application does not know where the application listens, and counts as
    /// listening on loopback.
    #[must_use]
    #[track_caller]
    pub fn allow_host(mut self, host: &str) -> Self {
        if let Some(problem) = host_problem(host) {
            self.refuse("allow_host", problem);
        }
        self.http.hosts.push(host.to_ascii_lowercase());
        self
    }

    /// Lets pages of this origin call the server, such as `https://app.example.com`. `*` allows every origin.
    ///
    /// By default pages from the server's own host and port are allowed. For a request to a loopback host, pages from any loopback host are
    /// allowed too.
    #[must_use]
    #[track_caller]
    pub fn allow_origin(mut self, origin: &str) -> Self {
        if let Some(problem) = origin_problem(origin) {
            self.refuse("allow_origin", problem);
        }
        self.http.origins.push(origin.trim_end_matches('/').to_ascii_lowercase());
        self
    }

    /// Trusts the reverse proxy at this address, or every proxy in this network, to name the address of the caller: `127.0.0.1`,
    /// `10.0.0.0/8`, `2001:db8::/32`. Can be called several times.
    ///
    /// If nothing else is known about a caller, limits count by address ([`rate`](Self::rate), logins of an `AuthorizationServer`). Behind
    /// a proxy all callers have the proxy's address, so one of them can use up the rate of all.
    ///
    /// If the proxy is trusted, a request comes from the last address in its `X-Forwarded-For` that is not itself trusted. The caller may
    /// have written the addresses before that one, so they are ignored. If the header is missing, or an entry is no address, the nearest
    /// known address counts.
    ///
    /// The proxy must append to that header or replace it. Behind a proxy that passes the header on unchanged, every client can choose its
    /// address. Most proxies append by default. HAProxy needs `option forwardfor`, and nginx needs a line in its configuration:
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
    /// Name only the proxies: a caller in a trusted network that connects without a proxy can claim any address. The header `Forwarded`
    /// (RFC 7239) is not read. A proxy that sets only one of the two headers passes on the other header as the client sent it.
    ///
    /// [`build`](Self::build) rejects a text that is no address or network, and a network of all addresses.
    #[must_use]
    #[track_caller]
    pub fn trust_proxy(mut self, network: &str) -> Self {
        match Network::parse(network) {
            Ok(network) => self.http.proxies.push(network),
            Err(problem) => self.refuse("trust_proxy", problem),
        }
        self
    }

    /// Serves the HTTP+SSE transport of protocol revision 2024-11-05 beside the endpoint: at `/sse` and `/message` if the endpoint is
    /// `/mcp`. Default: off. New clients do not need it.
    #[must_use]
    pub fn legacy_sse(mut self, serve: bool) -> Self {
        self.http.legacy_sse = serve;
        self
    }
}
