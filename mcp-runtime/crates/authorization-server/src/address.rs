//! Addresses of the authorization server.

/// Address of the authorization server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    Metadata,
    Authorize,
    Token,
    Register,
    Revoke,
    /// Redirect URI, to which the upstream provider sends the browser back.
    Callback,
}

/// First part of the path at which the metadata of an issuer is served. The issuer's path follows (RFC 8414, section 3.1).
pub(crate) const WELL_KNOWN: &str = "/.well-known/oauth-authorization-server";

pub(crate) const AUTHORIZE: &str = "/authorize";
pub(crate) const TOKEN: &str = "/token";
pub(crate) const REGISTER: &str = "/register";
pub(crate) const REVOKE: &str = "/revoke";
const CALLBACK: &str = "/callback";

impl Address {
    /// Returns the address at `path`. `issuer` is the issuer's path, which a proxy in front of the server may have removed from `path`.
    pub(crate) fn of(path: &str, issuer: &str) -> Option<Self> {
        if let Some(rest) = path.strip_prefix(WELL_KNOWN) {
            return (rest == issuer).then_some(Self::Metadata);
        }
        // The issuer's path can be a prefix of an address: `/a` and `/authorize`.
        [path.strip_prefix(issuer), Some(path)].into_iter().flatten().find_map(|it| match it {
            AUTHORIZE => Some(Self::Authorize),
            TOKEN => Some(Self::Token),
            REGISTER => Some(Self::Register),
            REVOKE => Some(Self::Revoke),
            CALLBACK => Some(Self::Callback),
            _ => None,
        })
    }

    /// Returns all paths for an issuer with this path.
    pub(crate) fn paths(issuer: &str) -> Vec<String> {
        let pages =
            [AUTHORIZE, TOKEN, REGISTER, REVOKE, CALLBACK].map(|it| format!("{issuer}{it}"));
        pages.into_iter().chain([format!("{WELL_KNOWN}{issuer}")]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_found_behind_the_issuers() {
        for issuer in ["", "/a", "/auth", "/t"] {
            for path in Address::paths(issuer) {
                assert!(Address::of(&path, issuer).is_some(), "{path}");
            }
            for path in [AUTHORIZE, TOKEN, REGISTER, REVOKE, CALLBACK] {
                assert!(Address::of(path, issuer).is_some(), "{issuer}: {path}");
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
            assert_eq!(Address::of(path, issuer), None, "{path}");
        }
        assert_eq!(Address::of("/token", "/a"), Some(Address::Token));
    }
}
