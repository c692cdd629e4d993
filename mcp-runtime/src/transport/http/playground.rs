//! The playground: a page on which a user tries the server out. The page is built from the sources below `playground/`, and is the same for
//! every server except for the path of the endpoint.

use std::{
    hash::{Hash as _, Hasher as _},
    net::IpAddr,
};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header, request::Parts};

use super::{
    access::is_on_loopback,
    route::{PLAYGROUND, PLAYGROUND_VIEW},
};
use crate::server::{HttpSettings, Playground};

/// The built page. Each script and each style sheet of it stands in the page itself.
const PAGE: &str = include_str!("../../../playground/dist/playground.html");

/// Directives of the page's Content-Security-Policy, with the hashes of its script and its style sheet.
const POLICY: &str = include_str!("../../../playground/dist/policy.txt");

/// Text of the page that stands for the path of the endpoint.
const ENDPOINT: &str = "{{endpoint}}";

/// Response headers, which are the same for each request.
pub(super) struct PlaygroundPage {
    page: Bytes,
    headers: HeaderMap,
}

impl PlaygroundPage {
    /// Returns the page of a server with these settings, or `None` if the server does not serve it.
    pub(super) fn of(settings: &HttpSettings) -> Option<Self> {
        if !settings.playground.is_served {
            return None;
        }
        // The path has no characters that HTML gives a meaning to, except for `&` and `'`. The text stands in double quotes.
        let page = PAGE.replacen(ENDPOINT, &settings.path.replace('&', "&amp;"), 1);
        let mut hasher = rustc_hash::FxHasher::default();
        page.hash(&mut hasher);
        let tag = format!("\"{:016x}\"", hasher.finish());
        let fixed = [
            (header::CONTENT_TYPE, "text/html; charset=utf-8"),
            (header::CACHE_CONTROL, "no-cache"),
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (header::X_FRAME_OPTIONS, "DENY"),
            (header::REFERRER_POLICY, "no-referrer"),
            // Otherwise a page that has opened this one could replace the chosen tool while the user clicks.
            (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
            (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        ];
        let mut headers: HeaderMap = fixed
            .map(|(name, value)| (name, HeaderValue::from_static(value)))
            .into_iter()
            .collect();
        for (name, value) in
            [(header::ETAG, tag), (header::CONTENT_SECURITY_POLICY, policy(settings))]
        {
            headers.insert(name, HeaderValue::try_from(value).ok()?);
        }
        Some(Self { page: page.into(), headers })
    }

    /// Answers a request for the page, whose headers are `asked`.
    pub(super) fn answer(&self, asked: &HeaderMap) -> Response<Bytes> {
        let mut known = asked.get_all(header::IF_NONE_MATCH).into_iter();
        let is_known = known.any(|tags| {
            let tags = tags.to_str().unwrap_or_default().split(',').map(str::trim);
            let own = self.headers.get(header::ETAG).and_then(|tag| tag.to_str().ok());
            tags.map(|tag| tag.trim_start_matches("W/")).any(|tag| tag == "*" || Some(tag) == own)
        });
        let page = if is_known { Bytes::new() } else { self.page.clone() };
        let mut response = Response::new(page);
        if is_known {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
        }
        *response.headers_mut() = self.headers.clone();
        response
    }
}

/// Returns the Content-Security-Policy: the page connects to its own origin, and to the issuers of tokens that the server names.
fn policy(settings: &HttpSettings) -> String {
    #[cfg_attr(not(feature = "auth"), allow(unused_mut, reason = "only a login needs other hosts"))]
    let mut connect = "connect-src 'self'".to_owned();
    #[cfg(feature = "auth")]
    for issuer in settings.protected.iter().flat_map(|protected| protected.issuers()) {
        // The settings have been checked, but a host may still have characters that would begin the next directive.
        if let Ok(uri) = issuer.parse::<http::Uri>()
            && let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority())
            && !authority.as_str().contains([';', ',', '*'])
        {
            connect.push_str(&format!(" {scheme}://{authority}"));
        }
    }
    #[cfg(not(feature = "auth"))]
    let _ = settings;
    format!("{}; {connect}", POLICY.trim_end())
}

/// Reason why the page is refused to a request of another machine.
pub(super) const REMOTE: &str = "the playground answers requests of this machine only: start the server with `--allow-remote-playground`, or call `.allow_remote_playground(true)`";

/// Returns whether a request names a loopback address as its host, and was not passed on by a proxy. A proxy passes requests of other machines
/// on to the loopback address, often with this address as the host.
pub(super) fn is_of_this_machine(parts: &Parts) -> bool {
    let header = parts.headers.get(header::HOST).map(|host| host.to_str().unwrap_or_default());
    let named = parts.uri.authority().map(http::uri::Authority::as_str);
    let mut hosts = [header, named].into_iter().flatten().peekable();
    let is_passed_on = |name| parts.headers.contains_key(name);
    hosts.peek().is_some()
        && hosts.all(is_on_loopback)
        && !["forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip"]
            .into_iter()
            .any(is_passed_on)
}

/// Checks that the playground may be served at the address `bound`. `None` means that the server is mounted in an application.
///
/// # Errors
/// Returns the reason and the fix if the endpoint has the path of the page, or if other machines may reach the address and the settings do
/// not allow this.
pub(super) fn check_address(settings: &HttpSettings, bound: Option<IpAddr>) -> Result<(), String> {
    let Playground { is_served, is_remote_allowed } = settings.playground;
    if is_served
        && [PLAYGROUND, PLAYGROUND_VIEW].map(|name| settings.sibling(name)).contains(&settings.path)
    {
        let path = &settings.path;
        return Err(format!(
            "the endpoint has the path `{path}` of the playground: choose another one with `--path` or `.path(…)`"
        ));
    }
    if !is_served || is_remote_allowed {
        return Ok(());
    }
    match bound {
        Some(address) if address.is_loopback() => Ok(()),
        Some(address) => Err(format!(
            "the playground is served on loopback addresses only, and other machines may reach {address}: leave the address out, or add `--allow-remote-playground` to the command, or call `.allow_remote_playground(true)`"
        )),
        None => Err(
            "the playground is served on loopback addresses only, and the address of an application is not known: call `.allow_remote_playground(true)`, or remove `.playground(true)`"
                .to_owned(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(tag: &str) -> HeaderMap {
        HeaderMap::from_iter([(header::IF_NONE_MATCH, HeaderValue::from_str(tag).unwrap())])
    }

    fn page(path: &str) -> PlaygroundPage {
        let playground = Playground { is_served: true, is_remote_allowed: false };
        let settings =
            HttpSettings { path: path.to_owned(), playground, ..HttpSettings::default() };
        PlaygroundPage::of(&settings).unwrap()
    }

    #[test]
    fn the_page_is_sent_once_to_a_browser_that_keeps_it() {
        let page = page("/mcp");
        let first = page.answer(&HeaderMap::new());
        assert_eq!(first.status(), StatusCode::OK);
        let tag = first.headers()[header::ETAG].to_str().unwrap();
        for known in [tag, &format!("W/{tag}"), &format!("\"other\", {tag}"), "*"] {
            let again = page.answer(&asked(known));
            assert_eq!(again.status(), StatusCode::NOT_MODIFIED, "{known}");
            assert_eq!(again.headers()[header::ETAG], tag);
            assert!(again.body().is_empty());
        }
        assert_eq!(page.answer(&asked("\"other\"")).status(), StatusCode::OK);
    }

    #[test]
    fn the_page_names_the_path_of_the_endpoint() {
        assert!(!page("/mcp").page.windows(ENDPOINT.len()).any(|text| text == ENDPOINT.as_bytes()));
        assert_ne!(page("/mcp").headers[header::ETAG], page("/a&b").headers[header::ETAG]);
    }

    #[test]
    fn the_policy_allows_no_other_host() {
        let page = page("/mcp");
        let policy = page.headers[header::CONTENT_SECURITY_POLICY].to_str().unwrap();
        assert!(policy.starts_with("default-src 'none'; "), "{policy}");
        assert!(policy.ends_with("; connect-src 'self'"), "{policy}");
        assert!(policy.contains("; frame-src 'self'; "), "{policy}");
        assert!(!policy.contains("unsafe") && !policy.contains("http"), "{policy}");
    }

    #[test]
    fn a_request_that_a_proxy_has_passed_on_is_not_of_this_machine() {
        let check = |host: &str, passed_on: Option<&'static str>, expected: bool| {
            let mut request = http::Request::builder().uri("/playground").header("host", host);
            if let Some(name) = passed_on {
                request = request.header(name, "192.0.2.1");
            }
            let (parts, ()) = request.body(()).unwrap().into_parts();
            assert_eq!(is_of_this_machine(&parts), expected, "{host} {passed_on:?}");
        };
        check("127.0.0.1:8000", None, true);
        check("localhost", None, true);
        check("[::1]:8000", None, true);
        check("api.example.com", None, false);
        for name in ["Forwarded", "X-Forwarded-For", "X-Real-IP"] {
            check("127.0.0.1:8000", Some(name), false);
        }
    }

    #[test]
    fn other_machines_reach_the_page_only_if_that_is_allowed() {
        let check = |is_remote_allowed, bound: Option<&str>| {
            let playground = Playground { is_served: true, is_remote_allowed };
            let settings = HttpSettings { playground, ..HttpSettings::default() };
            check_address(&settings, bound.map(|address| address.parse().unwrap()))
        };
        assert_eq!(check(false, Some("127.0.0.1")), Ok(()));
        assert_eq!(check(false, Some("::1")), Ok(()));
        assert_eq!(check(true, Some("0.0.0.0")), Ok(()));
        assert_eq!(check(true, None), Ok(()));
        let why = check(false, Some("0.0.0.0")).unwrap_err();
        assert!(why.contains("`--allow-remote-playground`"), "{why}");
        assert!(check(false, None).is_err());
        assert_eq!(check_address(&HttpSettings::default(), None), Ok(()));
        let playground = Playground { is_served: true, is_remote_allowed: true };
        for path in ["/api/playground", "/api/playground-view"] {
            let settings =
                HttpSettings { path: path.to_owned(), playground, ..HttpSettings::default() };
            let why = check_address(&settings, None).unwrap_err();
            assert!(why.contains(&format!("`{path}`")), "{why}");
        }
    }
}
