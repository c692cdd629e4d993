//! Metadata of a protected resource, which clients read before they have a token (RFC 9728).

use serde::Serialize;

/// Part of the metadata URL between the host and the path of the resource.
pub(crate) const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// Metadata document (RFC 9728, section 2).
#[derive(Serialize)]
pub(crate) struct ResourceMetadata<'a> {
    pub(super) resource: &'a str,
    pub(super) authorization_servers: &'a [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub(super) scopes_supported: &'a [String],
    pub(super) bearer_methods_supported: [&'static str; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) resource_name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) resource_documentation: Option<&'a str>,
}

impl ResourceMetadata<'_> {
    pub(crate) fn json(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }
}

/// Splits a URL into its origin and its path. The path is empty for the root.
pub(super) fn parts(url: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = url.split_once("://")?;
    let end = rest.find('/').unwrap_or(rest.len());
    let path = &rest[end..];
    let origin = &url[..scheme.len() + "://".len() + end];
    Some((origin, if path == "/" { "" } else { path }))
}

/// Returns the scheme and host of a URL.
pub(super) fn origin(url: &str) -> &str {
    parts(url).map_or(url, |parts| parts.0)
}

/// Returns the URL of the metadata document of a resource (RFC 9728, section 3.1).
pub(super) fn address(resource: &str) -> Option<String> {
    let (origin, path) = parts(resource)?;
    Some(format!("{origin}{WELL_KNOWN}{path}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_lies_between_host_and_path() {
        for (resource, expected) in [
            ("https://a.example", "https://a.example/.well-known/oauth-protected-resource"),
            ("https://a.example/", "https://a.example/.well-known/oauth-protected-resource"),
            ("https://a.example/mcp", "https://a.example/.well-known/oauth-protected-resource/mcp"),
            ("http://[::1]:8000/a/b", "http://[::1]:8000/.well-known/oauth-protected-resource/a/b"),
        ] {
            assert_eq!(address(resource).as_deref(), Some(expected));
        }
        assert_eq!(address("a.example"), None);
    }
}
