//! Settings of the HTTP endpoint, and checks of their values.

#[cfg(feature = "auth")]
use std::sync::Arc;
use std::time::Duration;

use super::network::Network;
#[cfg(feature = "auth")]
use crate::authorization::ProtectedResource;

/// Settings of the HTTP endpoint.
#[derive(Clone, Debug)]
pub(crate) struct HttpSettings {
    pub(crate) path: String,
    /// Allowed host names in lower case, with or without a port.
    pub(crate) hosts: Vec<String>,
    /// Allowed origins in lower case.
    pub(crate) origins: Vec<String>,
    pub(crate) legacy_sse: bool,
    /// Trusted proxies, which report the address of the caller.
    pub(crate) proxies: Vec<Network>,
    /// Time for which the server still accepts connections after it was asked to stop.
    pub(crate) drain: Duration,
    /// Resource that requires a token from its callers. `None` if callers need no token.
    #[cfg(feature = "auth")]
    pub(crate) protected: Option<Arc<ProtectedResource>>,
    #[cfg(feature = "playground")]
    pub(crate) playground: Playground,
}

/// Addresses at which a server serves the playground.
#[cfg(feature = "playground")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Playground {
    pub(crate) is_served: bool,
    /// Whether the page may be served at addresses that other machines reach.
    pub(crate) is_remote_allowed: bool,
}

impl Default for HttpSettings {
    fn default() -> Self {
        Self {
            path: "/mcp".to_owned(),
            hosts: Vec::new(),
            origins: Vec::new(),
            legacy_sse: false,
            proxies: Vec::new(),
            drain: Duration::ZERO,
            #[cfg(feature = "auth")]
            protected: None,
            #[cfg(feature = "playground")]
            playground: Playground::default(),
        }
    }
}

impl HttpSettings {
    /// Returns the path of the endpoint, with its last segment replaced by `name`.
    pub(crate) fn sibling(&self, name: &str) -> String {
        let parent = self.path.rfind('/').map_or("", |at| &self.path[..at]);
        format!("{parent}/{name}")
    }
}

/// Whether the text consists of characters that are allowed in the path of a URL.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_graphic() && !b"?#\"<>\\^`{|}".contains(&byte))
}

/// Returns a description of the problem if no request can have this path.
pub(crate) fn path_problem(path: &str) -> Option<String> {
    if !path.starts_with('/') {
        Some(format!("`{path}` does not begin with `/`"))
    } else if !is_plain(path) {
        Some(format!("`{path}` is not a URL path: use only ASCII, without spaces, `?` and `#`"))
    } else {
        None
    }
}

/// Returns a description of the problem if no request can have this `Host`.
pub(crate) fn host_problem(host: &str) -> Option<String> {
    let bare = host.split_once("://").map_or(host, |(_, rest)| rest);
    let bare = bare.split('/').next().unwrap_or(bare);
    if bare == "*" || bare.contains('*') {
        Some(format!("`{host}` stands for many hosts: name each of them"))
    } else if bare.is_empty() || !is_plain(bare) {
        Some(format!("`{host}` is not a host name, such as `api.example.com`"))
    } else if bare != host {
        Some(format!("`{host}` is a URL, not a host name: write `{bare}`"))
    } else {
        None
    }
}

/// Returns a description of the problem if no web page can have this origin.
pub(crate) fn origin_problem(origin: &str) -> Option<String> {
    if matches!(origin, "*" | "null") {
        return None;
    }
    let Some((scheme, rest)) = origin.split_once("://") else {
        return Some(format!(
            "`{origin}` is not an origin, because it has no scheme: write `https://{origin}`"
        ));
    };
    let rest = rest.trim_end_matches('/');
    let host = rest.split('/').next().unwrap_or(rest);
    if host.contains('*') {
        Some(format!(
            "`{origin}` stands for many origins: name each of them, or allow all with `*`"
        ))
    } else if host.is_empty() || !is_plain(host) {
        Some(format!("`{origin}` is not an origin, such as `https://app.example.com`"))
    } else if host != rest {
        Some(format!("`{origin}` has a path, and an origin has none: write `{scheme}://{host}`"))
    } else {
        None
    }
}

/// Parses a time such as `500ms`, `5s`, `1m` or `1h`: a whole number and a unit.
///
/// # Errors
/// Returns a description of the problem if the text is not such a time.
#[cfg(feature = "stdio")]
pub(crate) fn parse_time(text: &str) -> Result<Duration, String> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let millis = match unit {
        "ms" => Some(1),
        "s" => Some(1_000),
        "m" => Some(60_000),
        "h" => Some(3_600_000),
        _ => None,
    };
    let time = number.parse::<u64>().ok().zip(millis);
    let time = time.and_then(|(number, millis)| number.checked_mul(millis));
    time.map(Duration::from_millis).ok_or_else(|| {
        format!(
            "`{text}` is not a time: write a whole number and a unit, such as `500ms`, `5s` or `1m`"
        )
    })
}
