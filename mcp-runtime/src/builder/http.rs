//! Settings for serving over HTTP: the path, the hosts and origins of accepted requests, trusted proxies, the drain, and HTTP+SSE.

use std::time::Duration;

use super::settings::Builder;
use crate::server::{Network, host_problem, origin_problem, path_problem};

/// Settings of a server over HTTP.
impl Builder {
    /// Sets the path of the HTTP endpoint. Default: `/mcp`. A service in an application answers at the path where the application mounts
    /// it.
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

    /// Accepts requests with this `Host`, such as `api.example.com`. A host without a port is accepted with any port. Can be called several
    /// times.
    ///
    /// By default a server accepts `localhost` and loopback addresses. A server that does not listen on loopback also accepts every other
    /// IP address. Other host names must be allowed explicitly, because the owner of a web page can make a host name of their own resolve
    /// to this machine (DNS rebinding). A service in an application does not know the address on which the application listens, so it
    /// counts as listening on loopback.
    ///
    /// [`build`](Builder::build) rejects a text that is not a host name, such as a URL or a pattern with `*`.
    #[must_use]
    #[track_caller]
    pub fn allow_host(mut self, host: &str) -> Self {
        if let Some(problem) = host_problem(host) {
            self.refuse("allow_host", problem);
        }
        self.http.hosts.push(host.to_ascii_lowercase());
        self
    }

    /// Accepts requests from web pages with this origin, such as `https://app.example.com`. `*` allows every origin. Can be called several
    /// times.
    ///
    /// By default a server accepts requests from pages on its own host and port. A request to a loopback host is also accepted from a page
    /// on any loopback host.
    ///
    /// [`build`](Builder::build) rejects a text that is not an origin, such as a host without a scheme.
    #[must_use]
    #[track_caller]
    pub fn allow_origin(mut self, origin: &str) -> Self {
        if let Some(problem) = origin_problem(origin) {
            self.refuse("allow_origin", problem);
        }
        self.http.origins.push(origin.trim_end_matches('/').to_ascii_lowercase());
        self
    }

    /// Trusts a reverse proxy to name the address of the caller. The proxy is an address such as `127.0.0.1`, or every address of a network
    /// such as `10.0.0.0/8` or `2001:db8::/32`. Can be called several times.
    ///
    /// If neither a principal nor a session is known, the server applies limits per address, for example the limits on calls
    /// ([`rate`](Self::rate)) and on logins at an `AuthorizationServer`. Behind a proxy that is not trusted, all callers have the address
    /// of the proxy, so one caller can use up the rate of all.
    ///
    /// For a request from a trusted proxy, the address of the caller is the last address in `X-Forwarded-For` that is not itself trusted.
    /// The addresses before it are ignored, because the caller may have written them. If the header is missing, or an entry is not an
    /// address, the server uses the address of the last proxy that it could identify.
    ///
    /// The proxy must append to the header or replace it. Behind a proxy that passes the header on unchanged, every client can choose its
    /// address. Most proxies append by default. HAProxy needs `option forwardfor`, and nginx needs
    /// `proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;`. The file `examples/deploy/nginx.conf` in the repository is a complete
    /// configuration.
    ///
    /// ```
    /// let server =
    ///     mcp_runtime::server!().allow_host("api.example.com").trust_proxy("127.0.0.1");
    /// ```
    ///
    /// When the server stops, it keeps idle connections of the proxy open for two seconds, or half of the
    /// [grace period](crate::limits::Limits::grace) if that is shorter, and closes each after its next response. So the server ends up to two
    /// seconds later. A proxy that notices later than this that a connection has closed may still send a request on it, and answer its client
    /// with status 502.
    ///
    /// Name only the proxies: a caller in a trusted network that connects without a proxy can claim any address. The server does not read
    /// the header `Forwarded` (RFC 7239). A proxy that sets only one of the two headers passes on the other header as the client sent it.
    ///
    /// [`build`](Self::build) rejects a text that is neither an address nor a network, and a network of all addresses.
    #[must_use]
    #[track_caller]
    pub fn trust_proxy(mut self, network: &str) -> Self {
        match Network::parse(network) {
            Ok(network) => self.http.proxies.push(network),
            Err(problem) => self.refuse("trust_proxy", problem),
        }
        self
    }

    /// Sets for how long the server still accepts connections after it was asked to stop. Default: zero. The listener then closes at once.
    /// Connections without a request stay open for a further quarter of a second, because a client may have sent a request already. Those
    /// of a [trusted proxy](Self::trust_proxy) stay open longer.
    ///
    /// Set a few seconds if a load balancer decides by `/readyz` where it sends requests, or if an orchestrator tells the load balancer which
    /// servers exist. Choose more time than the load balancer needs to notice that the server is going. During the drain, `/readyz` answers
    /// 503, and all other requests are served. Each response has the header `Connection: close`, so the client's next request needs a new
    /// connection, which may lead to another server.
    ///
    /// After the drain, the listener closes, and running calls get the [grace period](crate::limits::Limits::grace). A second signal ends the
    /// drain early.
    ///
    /// The default is zero because a drain only delays the end where no load balancer asks for `/readyz`: on a developer's machine, or behind
    /// a proxy on the same machine. The option `--drain 5s` sets the time too. A service in an application does not accept connections
    /// itself, so this setting has no effect there.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let server = mcp_runtime::server!().drain(Duration::from_secs(5));
    /// ```
    #[must_use]
    pub fn drain(mut self, time: Duration) -> Self {
        self.http.drain = time;
        self
    }

    /// Sets whether the server also serves the HTTP+SSE transport of protocol revision 2024-11-05. Default: off. New clients do not need
    /// this transport.
    ///
    /// The transport uses `/sse` and `/message` if the path of the endpoint is `/mcp`.
    ///
    /// Servers that share a [store](Self::store) pass the messages of a client on to the server that has its stream, so a load balancer needs
    /// no sticky sessions. Calls run at the server of the stream, and the client begins again if that server ends. The header
    /// `Authorization`, cookies, and values that middleware has added to the request do not reach handlers this way. A message gets status 421
    /// at another server if a handler may need something that is never stored: claims that are a Rust value, a token of an upstream
    /// provider, or an `Authorization` header that no verifier has checked.
    ///
    /// Specification: Base protocol, Transports (revision 2024-11-05, HTTP with SSE).
    #[must_use]
    pub fn legacy_sse(mut self, serve: bool) -> Self {
        self.http.legacy_sse = serve;
        self
    }

    /// Sets whether the server also serves the playground, a page on which a person tries the server out in a browser. Default: off.
    ///
    /// The page is at `/playground` if the path of the endpoint is `/mcp`. The option `--http --playground` serves it too, and the command
    /// `playground` serves it at a free port and opens it. The page loads nothing from other hosts, and contains nothing of the server: it
    /// calls the endpoint as every client does. If the server has [`auth`](Self::auth), the person logs in on the page first.
    ///
    /// The page shows the view of a tool (extension MCP Apps) in a sandboxed frame, whose document is at `/playground-view`. A view reaches
    /// only the hosts that the `_meta.ui.csp` of its resource declares.
    ///
    /// The server starts only if it listens on a loopback address, unless [`allow_remote_playground`](Self::allow_remote_playground) permits
    /// other addresses. The address of a service in an application is not known, so such a service needs that permission too. Without the
    /// permission, a request for the page gets status 403 if it names another host, or if a proxy has passed it on.
    ///
    /// ```
    /// let server = mcp_runtime::server!().playground(cfg!(debug_assertions));
    /// ```
    #[cfg(feature = "playground")]
    #[must_use]
    pub fn playground(mut self, serve: bool) -> Self {
        self.http.playground.is_served = serve;
        self
    }

    /// Permits the [`playground`](Self::playground) at addresses that other machines reach. Default: off.
    ///
    /// The page gives its users no more rights than other clients have. But everyone who reaches a server without [`auth`](Self::auth) can
    /// then call its tools with a browser. The option `--allow-remote-playground` sets this too.
    #[cfg(feature = "playground")]
    #[must_use]
    pub fn allow_remote_playground(mut self, allow: bool) -> Self {
        self.http.playground.is_remote_allowed = allow;
        self
    }
}
