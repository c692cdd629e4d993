//! Comparison of audiences, which often are URLs.

/// Whether two audiences name the same recipient. URLs are compared as RFC 3986 does after normalization (sections 6.2.2.1 and 6.2.3): the
/// case of scheme and host, a default port, and an empty path make no difference. Other audiences must be equal.
pub(super) fn is_same_audience(one: &str, other: &str) -> bool {
    one == other
        || WebUrl::parse(one).is_some_and(|one| WebUrl::parse(other).as_ref() == Some(&one))
}

/// Normalized URL of a site.
#[derive(PartialEq)]
struct WebUrl<'a> {
    scheme: String,
    host: String,
    /// Path, query and fragment.
    rest: &'a str,
}

impl<'a> WebUrl<'a> {
    fn parse(url: &'a str) -> Option<Self> {
        let (scheme, rest) = url.split_once("://")?;
        let scheme = scheme.to_ascii_lowercase();
        let default_port = match &*scheme {
            "https" => ":443",
            "http" => ":80",
            _ => return None,
        };
        let (host, rest) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        // The case of a user name has a meaning.
        if host.contains('@') {
            return None;
        }
        let host = host.strip_suffix(default_port).or(host.strip_suffix(':')).unwrap_or(host);
        let rest = if rest.is_empty() { "/" } else { rest };
        Some(Self { scheme, host: host.to_ascii_lowercase(), rest })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_compared_without_the_case_of_the_host_a_default_port_and_an_empty_path() {
        for (one, other) in [
            ("https://example.com", "https://example.com/"),
            ("HTTPS://Example.COM/mcp", "https://example.com/mcp"),
            ("https://example.com:443/mcp", "https://example.com/mcp"),
            ("http://[::1]:80", "http://[::1]/"),
            ("https://example.com:", "https://example.com"),
            ("api://Server", "api://Server"),
        ] {
            assert!(is_same_audience(one, other) && is_same_audience(other, one), "{one} {other}");
        }
        for (one, other) in [
            ("https://example.com/mcp", "https://example.com/mcp/"),
            ("https://example.com/mcp", "https://example.com/MCP"),
            ("https://example.com", "http://example.com"),
            ("https://example.com:80", "https://example.com"),
            ("https://example.com:8443", "https://example.com"),
            ("https://Ada@example.com", "https://ada@example.com"),
            ("https://example.com?", "https://example.com"),
            ("https://example.com.evil.test", "https://example.com"),
            ("api://Server", "api://server"),
            ("server", "Server"),
        ] {
            assert!(
                !is_same_audience(one, other) && !is_same_audience(other, one),
                "{one} {other}"
            );
        }
    }
}
