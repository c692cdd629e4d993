//! What an author or an operator says of the HTTP endpoint.

use super::Builder;

#[derive(Clone, Debug)]
pub(crate) struct HttpSettings {
    pub(crate) path: String,
    /// Lower case, with or without a port.
    pub(crate) hosts: Vec<String>,
    /// Lower case.
    pub(crate) origins: Vec<String>,
    pub(crate) legacy_sse: bool,
}

impl Default for HttpSettings {
    fn default() -> Self {
        Self { path: "/mcp".to_owned(), hosts: Vec::new(), origins: Vec::new(), legacy_sse: false }
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
    /// [`build`](Builder::build) refuses one that does not begin with `/`.
    #[must_use]
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.http.path = path.into();
        let path = &self.http.path;
        if !path.starts_with('/') {
            self.problems.push(format!("`.path(\"{path}\")`: the path must begin with `/`"));
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
    pub fn allow_host(mut self, host: &str) -> Self {
        self.http.hosts.push(host.to_ascii_lowercase());
        self
    }

    /// Lets pages of this origin call the server: `https://app.example.com`. `*` lets all in.
    ///
    /// Unless said, these are the pages that come from the server's own host and port, and for a host on loopback all
    /// others on loopback.
    #[must_use]
    pub fn allow_origin(mut self, origin: &str) -> Self {
        self.http.origins.push(origin.trim_end_matches('/').to_ascii_lowercase());
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
