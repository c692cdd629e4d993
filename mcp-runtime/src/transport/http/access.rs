//! Checks the host name and the origin of requests (rules HL-02 and HM-02).
//!
//! The checks prevent DNS rebinding, in which a web page of a different site makes the browser send requests to a host name of that site
//! that resolves to the address of this server. The `Host` of such a request is that name, and its `Origin` is that site.
//!
//! A response to an allowed page has CORS headers (Fetch standard, section 3.2). Without these headers, the browser would not let the page
//! read the response.

use std::net::IpAddr;

use http::{HeaderMap, HeaderValue, StatusCode, Uri, header};

use super::head::Head;
use crate::{error::shown, server::HttpSettings};

/// Allowed host names and origins.
#[derive(Clone, Debug, Default)]
pub(super) struct HostAccess {
    /// Host names in lower case, with or without a port.
    hosts: Vec<String>,
    origins: Vec<String>,
    /// Whether the server can be reached from other machines, under addresses that are not known in advance.
    is_open: bool,
}

impl HostAccess {
    /// Derives the rules from the settings, and from the address `bound` that the server listens on, if it is known.
    pub(super) fn new(settings: &HttpSettings, bound: Option<IpAddr>) -> Self {
        let HttpSettings { hosts, origins, .. } = settings.clone();
        Self { hosts, origins, is_open: bound.is_some_and(|address| !address.is_loopback()) }
    }

    /// Checks the host and the origin of a request. If the request comes from a web page, returns the origin that may read the response.
    ///
    /// # Errors
    /// Returns the status of the refusal, and a message that names the refused host or origin and the setting that would allow it, or the
    /// header that is missing or repeated (RFC 9112, section 3.2).
    pub(super) fn check(
        &self,
        head: &Head<'_>,
        uri: &Uri,
    ) -> Result<Option<HeaderValue>, (StatusCode, String)> {
        for (said, name) in [(head.host, header::HOST), (head.origin, header::ORIGIN)] {
            if said.is_repeated {
                return Err((StatusCode::BAD_REQUEST, format!("the header `{name}` is repeated")));
            }
        }
        if let (Some(host), None, None) = (head.host.first, uri.authority(), head.origin.first)
            && is_own_machine(host.as_bytes())
        {
            return Ok(None);
        }
        let said = head.host.first.map(|host| host.to_str().unwrap_or_default());
        // In HTTP/2 the host is in the URI. An HTTP/1.1 request may name one host in the URI and a different one in the `Host` header, so
        // both are checked.
        let named = uri.authority().map(http::uri::Authority::as_str);
        let host = said.or(named).unwrap_or_default();
        if host.is_empty() {
            let why = "the request names no host: send the header `Host`";
            return Err((StatusCode::BAD_REQUEST, why.to_owned()));
        }
        for name in [Some(host), named].into_iter().flatten() {
            if !self.is_host(name) {
                let name = shown(name);
                return Err((
                    StatusCode::FORBIDDEN,
                    format!(
                        "this server does not answer to the host `{name}`: start it with `--allow-host {name}`, or call `.allow_host(\"{name}\")`"
                    ),
                ));
            }
        }
        let Some(origin) = head.origin.first else { return Ok(None) };
        let text = origin.to_str().unwrap_or_default().to_ascii_lowercase();
        if self.is_origin(&text, &host.to_ascii_lowercase()) {
            return Ok(Some(origin.clone()));
        }
        let text = shown(&text);
        Err((
            StatusCode::FORBIDDEN,
            format!(
                "pages of the origin `{text}` may not call this server: start it with `--allow-origin {text}`, or call `.allow_origin(\"{text}\")`"
            ),
        ))
    }

    fn is_host(&self, host: &str) -> bool {
        let Some(name) = without_port(host) else { return false };
        let is_this = |allowed: &String| {
            allowed.eq_ignore_ascii_case(host) || allowed.eq_ignore_ascii_case(name)
        };
        self.hosts.iter().any(is_this)
            || is_loopback(name)
            // A request whose host is an IP address is no sign of DNS rebinding: an attacker can redirect a host name to a different
            // machine, but not an address.
            || (self.is_open && address(name).is_some())
    }

    fn is_origin(&self, origin: &str, host: &str) -> bool {
        if self.origins.iter().any(|allowed| allowed == "*" || allowed == origin) {
            return true;
        }
        let Some((scheme, authority)) = origin.split_once("://") else { return false };
        let default = match scheme {
            "http" => ":80",
            "https" => ":443",
            _ => return false,
        };
        let plain = |name: &str| name.strip_suffix(default).unwrap_or(name).to_owned();
        plain(authority) == plain(host)
            || [authority, host].iter().all(|name| without_port(name).is_some_and(is_loopback))
    }
}

/// Whether a host is `127.0.0.1` or `localhost`, with or without a port. Checked first, because nearly all local clients send one of these
/// hosts, and this check is cheaper than parsing the host as an address.
fn is_own_machine(host: &[u8]) -> bool {
    let name = host.strip_prefix(b"127.0.0.1").or_else(|| host.strip_prefix(b"localhost"));
    match name {
        Some([]) => true,
        Some([b':', port @ ..]) => {
            matches!(port.len(), 1..=5) && port.iter().all(u8::is_ascii_digit)
        }
        _ => false,
    }
}

/// Removes the port, if there is one, from `name:port` or `[address]:port`. Returns `None` for text of any other form.
fn without_port(host: &str) -> Option<&str> {
    let bytes = host.as_bytes();
    let bracket = host.starts_with('[').then(|| memchr::memchr(b']', bytes)).flatten();
    let end = match bracket {
        Some(end) => end + 1,
        None => memchr::memchr(b':', bytes).unwrap_or(host.len()),
    };
    let (name, port) = host.split_at(end);
    let is_port =
        |port: &str| matches!(port.len(), 1..=5) && port.bytes().all(|byte| byte.is_ascii_digit());
    (port.is_empty() || port.strip_prefix(':').is_some_and(is_port)).then_some(name)
}

fn address(name: &str) -> Option<IpAddr> {
    let bare = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    match bare {
        Some(bare) => bare.parse::<std::net::Ipv6Addr>().ok().map(IpAddr::V6),
        None => name.parse::<std::net::Ipv4Addr>().ok().map(IpAddr::V4),
    }
}

/// Whether a host, with or without a port, is `localhost` or a loopback address.
#[cfg(any(feature = "auth", feature = "playground"))]
pub(super) fn is_on_loopback(host: &str) -> bool {
    without_port(host).is_some_and(is_loopback)
}

fn is_loopback(name: &str) -> bool {
    name.strip_suffix('.').unwrap_or(name).eq_ignore_ascii_case("localhost")
        || address(name).is_some_and(|address| address.is_loopback())
}

const EXPOSED: HeaderValue =
    HeaderValue::from_static("Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate, Retry-After");
const METHODS: HeaderValue = HeaderValue::from_static("GET, POST, DELETE, OPTIONS");
const ONE_DAY: HeaderValue = HeaderValue::from_static("86400");

/// Adds the CORS headers that let the requesting page read the response. `headers` are the headers of the response.
pub(super) fn allow_page(headers: &mut HeaderMap, origin: HeaderValue) {
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
    headers.append(header::VARY, HeaderValue::from_static("Origin"));
}

/// Adds the CORS headers of a response to a preflight request. All request headers are allowed, because tools may define headers of their
/// own. `headers` are the headers of the response.
pub(super) fn allow_request(headers: &mut HeaderMap, request: &HeaderMap) {
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, METHODS);
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, ONE_DAY);
    if let Some(wanted) = request.get(header::ACCESS_CONTROL_REQUEST_HEADERS) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, wanted.clone());
    }
    const PRIVATE: &str = "access-control-request-private-network";
    if request.contains_key(PRIVATE) {
        headers.insert("access-control-allow-private-network", HeaderValue::from_static("true"));
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;

    use super::*;

    fn access(bind: &str, hosts: &[&str], origins: &[&str]) -> HostAccess {
        let own = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let settings =
            HttpSettings { hosts: own(hosts), origins: own(origins), ..HttpSettings::default() };
        HostAccess::new(&settings, Some(bind.parse().unwrap()))
    }

    fn check(access: &HostAccess, host: &str, origin: Option<&str>, expected: bool) {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, HeaderValue::from_str(host).unwrap());
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, HeaderValue::from_str(origin).unwrap());
        }
        let found = access.check(&Head::of(&headers), &Uri::from_static("/mcp"));
        assert_eq!(found.is_ok(), expected, "{host} {origin:?}: {found:?}");
    }

    #[test]
    fn on_loopback_only_loopback_names_are_let_in() {
        let access = access("127.0.0.1", &[], &[]);
        for host in
            ["localhost", "LOCALHOST:8000", "127.0.0.1:1", "127.9.9.9", "[::1]:80", "localhost."]
        {
            check(&access, host, None, true);
            check(&access, host, Some("http://localhost:6274"), true);
            check(&access, host, Some("http://[::1]"), true);
            check(&access, host, Some("http://evil.example"), false);
            check(&access, host, Some("null"), false);
            check(&access, host, Some(""), false);
            check(&access, host, Some("http://localhost.evil.example"), false);
            check(&access, host, Some("file://localhost"), false);
            check(&access, host, Some("http://localhost:x@evil.example"), false);
            check(&access, host, Some("http://[::1]evil.example"), false);
        }
        for host in [
            "evil.example",
            "192.168.1.2",
            "localhost.evil.example",
            "",
            "127.0.0.1.evil.example",
            "localhost:x@evil.example",
            "127.0.0.1:evil.example",
            "[::1]evil.example",
            "localhost:80:evil",
            "localhost:",
            "localhost:123456",
            "localhost...",
            "[::2]",
        ] {
            check(&access, host, None, false);
        }
    }

    #[test]
    fn an_open_server_is_called_by_its_addresses() {
        let access = access("0.0.0.0", &[], &[]);
        check(&access, "192.168.1.2:8000", None, true);
        check(&access, "192.168.1.2:8000", Some("http://192.168.1.2:8000"), true);
        check(&access, "192.168.1.2", Some("http://192.168.1.2:80"), true);
        check(&access, "192.168.1.2:8000", Some("http://192.168.1.2:9000"), false);
        check(&access, "192.168.1.2:8000", Some("http://localhost"), false);
        check(&access, "localhost:8000", Some("http://localhost:3000"), true);
        check(&access, "api.example.com", None, false);
    }

    #[test]
    fn names_and_origins_can_be_allowed() {
        let hosts = ["api.example.com", "other.example:81"];
        let some = access("127.0.0.1", &hosts, &["https://app.example.com"]);
        let access = |host: &str, origin, expected| check(&some, host, origin, expected);
        access("api.example.com:9", None, true);
        access("other.example:81", None, true);
        access("other.example", None, false);
        access("localhost", Some("https://app.example.com"), true);
        access("api.example.com", Some("https://api.example.com"), true);
        access("localhost", Some("http://app.example.com"), false);
        check(&self::access("::1", &[], &["*"]), "localhost", Some("null"), true);
    }

    #[test]
    fn every_name_that_is_given_must_be_let_in() {
        let access = access("127.0.0.1", &[], &[]);
        let mut headers = HeaderMap::new();
        headers.append(header::HOST, HeaderValue::from_static("localhost"));
        let uri = |uri: &'static str| Uri::from_static(uri);
        assert!(access.check(&Head::of(&headers), &uri("http://localhost:1/mcp")).is_ok());
        assert!(access.check(&Head::of(&headers), &uri("http://evil.example/mcp")).is_err());
        assert!(access.check(&Head::default(), &uri("http://localhost/mcp")).is_ok());
        headers.append(header::HOST, HeaderValue::from_static("localhost"));
        assert!(access.check(&Head::of(&headers), &uri("/mcp")).is_err());
    }

    #[test]
    fn the_refusal_names_what_would_let_it_in() {
        let headers =
            HeaderMap::from_iter([(header::HOST, HeaderValue::from_static("evil.example"))]);
        let check = |headers: &HeaderMap| {
            let access = access("::1", &[], &[]);
            access.check(&Head::of(headers), &Uri::from_static("/")).unwrap_err()
        };
        let (status, text) = check(&headers);
        assert!(status == 403 && text.contains("--allow-host evil.example"), "{text}");
        let (status, text) = check(&HeaderMap::new());
        assert!(status == 400 && text.contains("send the header `Host`"), "{text}");
    }
}
