//! Redirect URIs, to which a browser is sent with a code (RFC 6749, section 3.1.2; RFC 8252, section 7; RFC 9700, section 2.1).

use core::net::{IpAddr, Ipv6Addr};

/// Maximum length of a redirect URI, in bytes.
const MOST: usize = 2048;

/// Schemes that are rejected as private schemes, because they do not belong to a single application.
const TAKEN: [&str; 11] = [
    "http",
    "https",
    "javascript",
    "data",
    "file",
    "blob",
    "about",
    "vbscript",
    "ftp",
    "ws",
    "wss",
];

/// A redirect URI that may be registered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RedirectUri<'a> {
    /// URL of a site. The host includes the port.
    Site { origin: &'a str, host: &'a str },
    /// URL of a program on the user's own machine, which listens on any free port.
    Loopback { origin: &'a str, host: &'a str, rest: &'a str },
    /// URL with a private scheme, which the operating system opens in an application.
    Private { scheme: &'a str },
}

impl<'a> RedirectUri<'a> {
    /// Parses a redirect URI.
    ///
    /// # Errors
    /// Fails if a browser must not be sent to this URI. The error says why.
    pub(crate) fn parse(text: &'a str) -> Result<Self, &'static str> {
        if text.len() > MOST {
            return Err("a redirect URI is longer than 2,048 bytes");
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&byte)) {
            return Err("a redirect URI has characters that a URL must not contain");
        }
        if text.contains('#') {
            return Err("a redirect URI has a fragment");
        }
        let (scheme, rest) = text.split_once(':').ok_or("a redirect URI has no scheme")?;
        let is_https = scheme == "https";
        if !is_https && scheme != "http" {
            return private(scheme, rest);
        }
        let rest = rest.strip_prefix("//").ok_or("a redirect URI has no host")?;
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let origin = &text[..text.len() - path.len()];
        if authority.contains('@') {
            return Err("a redirect URI contains a user name");
        }
        let host = host(authority).ok_or("the host of a redirect URI cannot be read")?;
        match (is_https, is_loopback(host)) {
            (false, true) => Ok(Self::Loopback { origin, host, rest: path }),
            (true, _) => Ok(Self::Site { origin, host: authority }),
            (false, false) => {
                Err("a redirect URI must be https, or http on the user's own machine")
            }
        }
    }

    /// Returns the source expression that allows this URI in the `Content-Security-Policy` of a page.
    pub(crate) fn source(&self) -> String {
        match self {
            Self::Site { origin, .. } | Self::Loopback { origin, .. } => (*origin).to_owned(),
            Self::Private { scheme } => format!("{scheme}:"),
        }
    }

    /// Returns a warning for the user if any program could receive the redirect.
    pub(crate) fn warning(&self) -> Option<&'static str> {
        match self {
            Self::Site { .. } => None,
            Self::Loopback { .. } => Some(
                "Any program on this computer can claim to be this application. Go on only if you have just started it yourself.",
            ),
            Self::Private { .. } => Some(
                "Any application can claim such links. Go on only if you have just started this one yourself.",
            ),
        }
    }

    /// Returns a description of the destination for the user.
    pub(crate) fn destination(&self) -> String {
        match self {
            Self::Site { host, .. } => (*host).to_owned(),
            Self::Loopback { host, .. } => format!("a program on this computer ({host})"),
            Self::Private { scheme } => format!("the application that opens “{scheme}:” links"),
        }
    }
}

/// Whether a requested redirect URI matches a registered one. Only the port of a program on the user's own machine may differ.
pub(crate) fn is_registered(registered: &str, requested: &str) -> bool {
    let at = |uri| match RedirectUri::parse(uri) {
        Ok(RedirectUri::Loopback { host, rest, .. }) => Some((host, rest)),
        _ => None,
    };
    registered == requested || at(registered).is_some_and(|place| at(requested) == Some(place))
}

fn private<'a>(scheme: &'a str, rest: &str) -> Result<RedirectUri<'a>, &'static str> {
    let is_scheme = scheme.starts_with(|letter: char| letter.is_ascii_lowercase())
        && scheme.bytes().all(|byte| {
            byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"+-.".contains(&byte)
        });
    if !is_scheme || TAKEN.contains(&scheme) || rest.is_empty() {
        return Err("a redirect URI must be https, or http on the user's own machine");
    }
    Ok(RedirectUri::Private { scheme })
}

/// Returns the host of `host`, `host:port` or `[address]:port`.
fn host(authority: &str) -> Option<&str> {
    let end = match authority.strip_prefix('[') {
        Some(rest) => rest.find(']')? + 2,
        None => authority.find(':').unwrap_or(authority.len()),
    };
    let (host, port) = authority.split_at(end);
    let is_port =
        |port: &str| port.parse::<u16>().is_ok() && port.bytes().all(|byte| byte.is_ascii_digit());
    let is_name = |name: &str| {
        !name.is_empty()
            && name.bytes().all(|byte| {
                byte.is_ascii_lowercase() || byte.is_ascii_digit() || b".-_".contains(&byte)
            })
    };
    let is_host = match host.strip_prefix('[') {
        Some(rest) => rest.strip_suffix(']')?.parse::<Ipv6Addr>().is_ok(),
        None => is_name(host),
    };
    (is_host && (port.is_empty() || port.strip_prefix(':').is_some_and(is_port))).then_some(host)
}

fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn redirect_uris_use_https_loopback_or_a_private_scheme() {
        for good in [
            "https://a.example",
            "https://a.example/cb?x=1",
            "https://a.example:8443/cb",
            "https://localhost/cb",
            "http://localhost",
            "http://127.0.0.1:1/cb",
            "http://[::1]:65535/cb?x",
            "cursor://anysphere.cursor-retrieval/oauth/user-x/callback",
            "com.example.app:/cb",
        ] {
            assert!(RedirectUri::parse(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "/cb",
            "a.example/cb",
            "http://a.example/cb",
            "http://localhost.a.example/cb",
            "http://10.0.0.1/cb",
            "http://0.0.0.0/cb",
            "https://a.example/cb#x",
            "https://a.example#",
            "https://user@a.example/cb",
            "https://a.example:80:80/",
            "https://a.example:/",
            "https://a.example:+1/",
            "https://a.example:99999/",
            "https://A.example/",
            "https://é.example/",
            "https:///cb",
            "https://[::1/",
            "https://[::1]x/",
            "https:a.example",
            "https:/a.example",
            "https://a.example\\@b.example",
            "https://a.example/ b",
            "https://a.example/\r\nx: y",
            "HTTPS://a.example/",
            "javascript:alert(1)",
            "JavaScript:alert(1)",
            "data:text/html,x",
            "file:///etc/passwd",
            "blob:https://a.example/x",
            "vbscript:x",
            "about:blank",
            "1a:/",
            "cursor:",
            ":/",
        ] {
            assert!(RedirectUri::parse(bad).is_err(), "{bad}");
        }
        assert!(RedirectUri::parse(&format!("https://a.example/{}", "a".repeat(MOST))).is_err());
    }

    #[test]
    fn only_the_port_of_a_program_may_differ() {
        let check = |registered: &str, asked: &str, expected: bool| {
            assert_eq!(is_registered(registered, asked), expected, "{registered} {asked}");
        };
        for same in ["https://a.example/cb", "cursor://x/cb", "http://localhost:1/cb"] {
            check(same, same, true);
        }
        check("http://127.0.0.1/cb", "http://127.0.0.1:49152/cb", true);
        check("http://127.0.0.1:1/cb", "http://127.0.0.1:2/cb", true);
        check("http://[::1]:1/cb?x=1", "http://[::1]/cb?x=1", true);
        check("http://localhost:1/cb", "http://localhost:2/cb", true);
        for other in [
            "http://127.0.0.1:1/cb/",
            "http://127.0.0.1:1/CB",
            "http://127.0.0.1:1/cb?x",
            "http://127.0.0.1:1/cb#x",
            "http://127.0.0.1:1/cb/../cb",
            "http://127.0.0.1:1/c%62",
            "http://127.0.0.1:1",
            "http://127.0.0.2:1/cb",
            "http://localhost:1/cb",
            "http://[::1]:1/cb",
            "https://127.0.0.1:1/cb",
            "http://user@127.0.0.1:1/cb",
            "http://127.0.0.1:1@evil.example/cb",
            "http://127.0.0.1.evil.example:1/cb",
        ] {
            check("http://127.0.0.1:1/cb", other, false);
        }
        for other in [
            "https://a.example:443/cb",
            "https://a.example/cb/",
            "https://a.example/cb?",
            "https://b.a.example/cb",
            "https://a.example.evil.example/cb",
            "http://a.example/cb",
        ] {
            check("https://a.example/cb", other, false);
        }
    }

    proptest! {
        #[test]
        fn redirect_uris_match_exactly_or_except_for_the_port_of_a_loopback_uri(registered in "https?://(localhost|127\\.0\\.0\\.1|a\\.example)(:[0-9]{1,5})?/[a-c/]{0,4}", asked in "https?://(localhost|127\\.0\\.0\\.1|a\\.example)(:[0-9]{1,5})?/[a-c/]{0,4}") {
            // An independent implementation of the rule: URLs of programs on this machine are compared without their ports.
            let plain = |text: &str| {
                let is_own = RedirectUri::parse(text).is_ok_and(|uri| matches!(uri, RedirectUri::Loopback { .. }));
                let (scheme, rest) = text.split_once("://").unwrap();
                let (authority, path) = rest.split_once('/').unwrap();
                let host = authority.split(':').next().unwrap();
                is_own.then(|| format!("{scheme}://{host}/{path}"))
            };
            let expected = registered == asked || (plain(&registered).is_some() && plain(&registered) == plain(&asked));
            prop_assert_eq!(is_registered(&registered, &asked), expected);
        }

        #[test]
        fn an_accepted_redirect_uri_is_a_valid_header_value(text in ".{0,60}", prefixed in any::<bool>()) {
            let text = if prefixed { format!("https://a.example/{text}") } else { text };
            if RedirectUri::parse(&text).is_ok() {
                prop_assert!(http::HeaderValue::from_str(&text).is_ok());
            }
            let _ = is_registered(&text, &text);
        }
    }
}
