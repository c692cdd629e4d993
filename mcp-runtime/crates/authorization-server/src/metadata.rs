//! Endpoints of the authorization server, and the metadata that lists the endpoints (RFC 8414).

use serde::Serialize;

/// Endpoint of the authorization server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Endpoint {
    Metadata,
    Authorize,
    Token,
    Register,
    Revoke,
    /// Redirect URI, to which the upstream provider sends the browser back.
    Callback,
}

/// Start of the path at which the metadata of an issuer is served. The path of the issuer follows (RFC 8414, section 3.1).
const WELL_KNOWN: &str = "/.well-known/oauth-authorization-server";

const AUTHORIZE: &str = "/authorize";
const TOKEN: &str = "/token";
const REGISTER: &str = "/register";
const REVOKE: &str = "/revoke";
const CALLBACK: &str = "/callback";

impl Endpoint {
    /// Returns the endpoint at `path`. `issuer` is the issuer's path, which a proxy in front of the server may have removed from `path`.
    pub(crate) fn of(path: &str, issuer: &str) -> Option<Self> {
        if let Some(rest) = path.strip_prefix(WELL_KNOWN) {
            return (rest == issuer).then_some(Self::Metadata);
        }
        // Tries the path without the issuer's path, and the whole path. A path can begin with the issuer's path by chance, such as
        // `/authorize` with `/a`.
        [path.strip_prefix(issuer), Some(path)].into_iter().flatten().find_map(|path| match path {
            AUTHORIZE => Some(Self::Authorize),
            TOKEN => Some(Self::Token),
            REGISTER => Some(Self::Register),
            REVOKE => Some(Self::Revoke),
            CALLBACK => Some(Self::Callback),
            _ => None,
        })
    }

    /// Returns the paths of all endpoints, for an issuer with this path.
    pub(crate) fn paths(issuer: &str) -> Vec<String> {
        let pages =
            [AUTHORIZE, TOKEN, REGISTER, REVOKE, CALLBACK].map(|path| format!("{issuer}{path}"));
        pages.into_iter().chain([format!("{WELL_KNOWN}{issuer}")]).collect()
    }
}

/// Supported methods of client authentication.
const METHODS: [&str; 3] = ["none", "client_secret_basic", "client_secret_post"];

/// Metadata of the authorization server (RFC 8414, section 2).
#[derive(Serialize)]
pub(crate) struct ServerMetadata<'a> {
    issuer: &'a str,
    authorization_endpoint: String,
    token_endpoint: String,
    registration_endpoint: String,
    revocation_endpoint: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    scopes_supported: Vec<&'a str>,
    response_types_supported: [&'static str; 1],
    response_modes_supported: [&'static str; 1],
    grant_types_supported: [&'static str; 2],
    token_endpoint_auth_methods_supported: [&'static str; 3],
    revocation_endpoint_auth_methods_supported: [&'static str; 3],
    code_challenge_methods_supported: [&'static str; 1],
    authorization_response_iss_parameter_supported: bool,
    client_id_metadata_document_supported: bool,
}

impl<'a> ServerMetadata<'a> {
    /// `has_documents` tells whether a client may be identified by the URL of its metadata.
    pub(crate) fn new(
        issuer: &'a str,
        scopes: impl Iterator<Item = &'a str>,
        has_documents: bool,
    ) -> Self {
        let at = |path| format!("{}{path}", issuer.trim_end_matches('/'));
        Self {
            issuer,
            authorization_endpoint: at(AUTHORIZE),
            token_endpoint: at(TOKEN),
            registration_endpoint: at(REGISTER),
            revocation_endpoint: at(REVOKE),
            scopes_supported: scopes.collect(),
            response_types_supported: ["code"],
            response_modes_supported: ["query"],
            grant_types_supported: ["authorization_code", "refresh_token"],
            token_endpoint_auth_methods_supported: METHODS,
            revocation_endpoint_auth_methods_supported: METHODS,
            code_challenge_methods_supported: ["S256"],
            authorization_response_iss_parameter_supported: true,
            client_id_metadata_document_supported: has_documents,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_found_behind_the_issuers() {
        for issuer in ["", "/a", "/auth", "/t"] {
            for path in Endpoint::paths(issuer) {
                assert!(Endpoint::of(&path, issuer).is_some(), "{path}");
            }
            for path in [AUTHORIZE, TOKEN, REGISTER, REVOKE, CALLBACK] {
                assert!(Endpoint::of(path, issuer).is_some(), "{issuer}: {path}");
            }
        }
        for (path, issuer) in [
            ("/", ""),
            ("/token/", ""),
            ("/a/token", ""),
            ("/b/token", "/a"),
            (WELL_KNOWN, "/a"),
            ("/.well-known/oauth-authorization-server/mcp", ""),
        ] {
            assert_eq!(Endpoint::of(path, issuer), None, "{path}");
        }
        assert_eq!(Endpoint::of("/token", "/a"), Some(Endpoint::Token));
    }
}
