//! Head of a request: its headers, the media types that its client accepts, and the address of its caller.

use std::net::IpAddr;

use http::{HeaderMap, HeaderValue, header, request::Parts};

use crate::{
    error::shown,
    protocol::VERSION_HEADER,
    server::{Network, written_address},
};

/// Header that names a session.
pub(super) const SESSION_HEADER: &str = "mcp-session-id";

/// Headers of a request that decide how it is handled, found in one pass.
#[derive(Default)]
pub(super) struct Head<'a> {
    pub(super) host: HeaderField<'a>,
    pub(super) origin: HeaderField<'a>,
    pub(super) accept: HeaderField<'a>,
    pub(super) content_type: HeaderField<'a>,
    pub(super) content_encoding: HeaderField<'a>,
    pub(super) session: HeaderField<'a>,
    pub(super) version: HeaderField<'a>,
    /// Approximate size of the headers on the wire, in bytes.
    pub(super) size: usize,
}

/// First value of a header, and whether the header has further values.
#[derive(Clone, Copy, Default)]
pub(super) struct HeaderField<'a> {
    pub(super) first: Option<&'a HeaderValue>,
    pub(super) is_repeated: bool,
}

impl<'a> HeaderField<'a> {
    fn add(&mut self, value: &'a HeaderValue) {
        match self.first {
            None => self.first = Some(value),
            Some(_) => self.is_repeated = true,
        }
    }
}

impl<'a> Head<'a> {
    /// Collects the headers of a request.
    pub(super) fn of(headers: &'a HeaderMap) -> Self {
        let mut head = Self::default();
        for (name, value) in headers {
            head.size += name.as_str().len() + value.len() + 4;
            // Standard names come first, because the `http` crate compares them as numbers, and other names as text.
            let field = match name {
                name if *name == header::HOST => &mut head.host,
                name if *name == header::CONTENT_TYPE => &mut head.content_type,
                name if *name == header::ACCEPT => &mut head.accept,
                name if *name == header::CONTENT_LENGTH => continue,
                name if *name == header::ORIGIN => &mut head.origin,
                name if *name == header::CONTENT_ENCODING => &mut head.content_encoding,
                name if name.as_str() == SESSION_HEADER => &mut head.session,
                name if name.as_str() == VERSION_HEADER => &mut head.version,
                _ => continue,
            };
            field.add(value);
        }
        head
    }
}

/// Whether the client accepts each of the two media types of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Accepts {
    pub(super) json: bool,
    pub(super) events: bool,
}

impl Accepts {
    /// Usual value of `Accept` from a client that follows the specification.
    const USUAL: &str = "application/json, text/event-stream";

    /// Returns the media types that the client accepts.
    pub(super) fn by(head: &Head<'_>, headers: &HeaderMap) -> Self {
        match head.accept {
            HeaderField { first: Some(value), is_repeated: false } if value == Self::USUAL => {
                Self { json: true, events: true }
            }
            _ => Self::of(headers),
        }
    }

    /// Parses `Accept`. A client that does not send this header accepts everything.
    fn of(headers: &HeaderMap) -> Self {
        let mut accepts = Self { json: false, events: false };
        let mut lines = headers.get_all(header::ACCEPT).iter().peekable();
        if lines.peek().is_none() {
            return Self { json: true, events: true };
        }
        for range in lines.filter_map(|line| line.to_str().ok()).flat_map(|line| line.split(',')) {
            let mut parts = range.split(';').map(str::trim_ascii);
            let name = parts.next().unwrap_or_default();
            if parts.any(is_zero_quality) {
                continue;
            }
            let is = |range: &str| name.eq_ignore_ascii_case(range);
            accepts.json |= is("application/json") || is("application/*") || is("*/*");
            accepts.events |= is("text/event-stream") || is("text/*") || is("*/*");
        }
        accepts
    }
}

/// Whether a parameter is `q=0`, which excludes a media type.
fn is_zero_quality(parameter: &str) -> bool {
    parameter.split_once('=').is_some_and(|(name, value)| {
        name.trim_ascii().eq_ignore_ascii_case("q") && value.trim_ascii().parse() == Ok(0.0)
    })
}

/// Checks that the body is JSON in UTF-8, without a compression.
///
/// # Errors
/// Returns the requirement that a header does not meet.
pub(super) fn check_media_type(head: &Head<'_>) -> Result<(), String> {
    const JSON: &str = "application/json";
    if head.content_type.first.is_none_or(|given| given != JSON) {
        let given = head.content_type.first.map_or(&b""[..], |value| value.as_bytes());
        let given = String::from_utf8_lossy(given);
        let (name, parameters) = given.split_once(';').unwrap_or((&given, ""));
        if !name.trim_ascii().eq_ignore_ascii_case(JSON) {
            let given = if given.is_empty() { "nothing" } else { shown(&given) };
            return Err(format!("`Content-Type` must be `application/json`, but it is `{given}`"));
        }
        if let Some(charset) = parameters.split([';', ',']).find_map(charset)
            && !["utf-8", "utf8", "us-ascii"].iter().any(|name| charset.eq_ignore_ascii_case(name))
        {
            let charset = shown(charset);
            return Err(format!(
                "`charset` in `Content-Type` must be `utf-8`, but it is `{charset}`"
            ));
        }
    }
    let HeaderField { first: Some(encoding), is_repeated } = head.content_encoding else {
        return Ok(());
    };
    let encoding = String::from_utf8_lossy(encoding.as_bytes());
    if !is_repeated && (encoding.is_empty() || encoding.eq_ignore_ascii_case("identity")) {
        return Ok(());
    }
    let encoding = shown(&encoding);
    Err(format!("the body must be sent without `Content-Encoding`, but this is `{encoding}`"))
}

/// Returns the value of a parameter of `Content-Type` if its name is `charset`.
fn charset(parameter: &str) -> Option<&str> {
    let (name, value) = parameter.split_once('=')?;
    name.trim_ascii().eq_ignore_ascii_case("charset").then(|| value.trim_ascii().trim_matches('"'))
}

const FORWARDED_FOR: &str = "x-forwarded-for";

/// Maximum number of proxies between caller and server. If there are more, the farthest address that was read counts as the caller.
const MOST_PROXIES: usize = 16;

/// Returns the address of the caller, if it is known. Trusted proxies may have forwarded the request.
///
/// Each proxy appends the address that called it to `X-Forwarded-For`, so the list is read backwards. The first address in this order that
/// is not a trusted proxy is the caller. The caller may have written all entries to the left of this address, so they are not trusted.
///
/// `peer` is the remote end of the connection, if the server accepted the connection itself. The address is determined for each request,
/// because a proxy sends the requests of several callers over one connection.
pub(super) fn caller_address(
    peer: Option<IpAddr>,
    proxies: &[Network],
    parts: &Parts,
) -> Option<IpAddr> {
    #[cfg(feature = "axum")]
    let peer = peer.or_else(|| connect_info(parts));
    if proxies.is_empty() {
        return peer;
    }
    peer.map(|peer| beyond(proxies, peer, &parts.headers))
}

/// Returns the nearest address that is not one of these proxies. If there is none, returns the farthest readable address.
fn beyond(proxies: &[Network], peer: IpAddr, headers: &HeaderMap) -> IpAddr {
    let lines = headers.get_all(FORWARDED_FOR).iter().rev();
    let mut entries = lines.flat_map(|line| line.as_bytes().rsplit(|byte| *byte == b','));
    let mut nearest = peer;
    for _ in 0..MOST_PROXIES {
        if !proxies.iter().any(|proxy| proxy.has(nearest)) {
            break;
        }
        let Some(next) = entries.next().and_then(read_address) else { break };
        nearest = next;
    }
    nearest
}

fn read_address(entry: &[u8]) -> Option<IpAddr> {
    written_address(str::from_utf8(entry.trim_ascii()).ok()?)
}

/// Returns the address that a request came from, if the application provides `ConnectInfo`.
#[cfg(feature = "axum")]
fn connect_info(parts: &Parts) -> Option<IpAddr> {
    parts
        .extensions
        .get::<axum::extract::ConnectInfo<std::net::SocketAddr>>()
        .map(|info| info.0.ip())
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn headers_are_found_once_or_more() {
        let mut headers = HeaderMap::new();
        headers.append("host", HeaderValue::from_static("a"));
        headers.append("Mcp-Session-Id", HeaderValue::from_static("b"));
        headers.append("x", HeaderValue::from_static("c"));
        headers.append("MCP-Protocol-Version", HeaderValue::from_static("d"));
        headers.append("mcp-protocol-version", HeaderValue::from_static("e"));
        let head = Head::of(&headers);
        assert_eq!(head.host.first.unwrap(), "a");
        assert_eq!(head.session.first.unwrap(), "b");
        assert_eq!(head.version.first.unwrap(), "d");
        assert!(head.version.is_repeated && !head.session.is_repeated);
        assert!(head.accept.first.is_none() && head.origin.first.is_none());
        assert_eq!(head.size, 4 + 14 + 1 + 20 + 20 + 5 + 5 * 4);
    }

    fn check_accept(accept: &'static str, json: bool, events: bool) {
        let headers = HeaderMap::from_iter([(header::ACCEPT, HeaderValue::from_static(accept))]);
        assert_eq!(Accepts::of(&headers), Accepts { json, events }, "{accept}");
    }

    #[test]
    fn types_are_read_from_accept() {
        check_accept("application/json, text/event-stream", true, true);
        check_accept("Application/JSON;charset=utf-8", true, false);
        check_accept("text/event-stream", false, true);
        check_accept("*/*;q=0.1", true, true);
        check_accept("text/html, application/*", true, false);
        check_accept("application/json;q=0, text/*", false, true);
        check_accept("", false, false);
        assert_eq!(Accepts::of(&HeaderMap::new()), Accepts { json: true, events: true });
    }

    fn check_type(content_type: &'static str, encoding: &'static str, expected: &str) {
        let headers = HeaderMap::from_iter([
            (header::CONTENT_TYPE, HeaderValue::from_static(content_type)),
            (header::CONTENT_ENCODING, HeaderValue::from_static(encoding)),
        ]);
        let found = check_media_type(&Head::of(&headers)).err().unwrap_or_default();
        assert_eq!(found, expected, "{content_type}, {encoding}");
    }

    #[test]
    fn bodies_are_json_in_utf_8_without_compression() {
        check_type("application/json", "identity", "");
        check_type("Application/JSON ; a=b; CharSet = \"UTF-8\"", "Identity", "");
        check_type("application/json;charset=utf8;", "identity", "");
        check_type("application/json;charset=US-ASCII", "", "");
        check_type("application/json; charset=utf-8, application/json", "identity", "");
        let json = "`Content-Type` must be `application/json`, but it is";
        check_type(
            "text/json;charset=utf-8",
            "identity",
            &format!("{json} `text/json;charset=utf-8`"),
        );
        let nothing = check_media_type(&Head::of(&HeaderMap::new()));
        assert_eq!(nothing.unwrap_err(), format!("{json} `nothing`"));
        let utf8 = "`charset` in `Content-Type` must be `utf-8`, but it is";
        check_type("application/json; charset=latin1", "identity", &format!("{utf8} `latin1`"));
        check_type(
            "application/json; a=b; charset=\"utf-16\"",
            "identity",
            &format!("{utf8} `utf-16`"),
        );
        let plain = "the body must be sent without `Content-Encoding`, but this is";
        check_type("application/json", "gzip", &format!("{plain} `gzip`"));
        check_type("application/json; charset=utf-8", "br, gzip", &format!("{plain} `br, gzip`"));
    }

    fn proxies() -> [Network; 3] {
        ["10.0.0.0/8", "192.0.2.1", "2001:db8::/32"].map(|text| Network::parse(text).unwrap())
    }

    fn found(peer: &str, lines: &[&[u8]]) -> IpAddr {
        let mut headers = HeaderMap::new();
        headers.append("Forwarded", HeaderValue::from_static("for=198.51.100.99"));
        for line in lines {
            headers.append(FORWARDED_FOR, HeaderValue::from_bytes(line).unwrap());
        }
        beyond(&proxies(), peer.parse().unwrap(), &headers)
    }

    #[track_caller]
    fn check_caller(peer: &str, lines: &[&str], expected: &str) {
        let lines: Vec<_> = lines.iter().map(|line| line.as_bytes()).collect();
        assert_eq!(found(peer, &lines), expected.parse::<IpAddr>().unwrap());
    }

    #[test]
    fn the_caller_is_the_last_address_that_is_no_trusted_proxy() {
        check_caller("10.0.0.1", &["203.0.113.5"], "203.0.113.5");
        check_caller("10.0.0.1", &["203.0.113.5, 10.0.0.2,192.0.2.1"], "203.0.113.5");
        check_caller("10.0.0.1", &["198.51.100.1, 203.0.113.5, 10.0.0.2"], "203.0.113.5");
        check_caller("::ffff:10.0.0.1", &["203.0.113.5, ::ffff:10.0.0.2"], "203.0.113.5");
        check_caller("2001:db8::1", &["2001:db9::5, [2001:db8::2]:443"], "2001:db9::5");
        check_caller("10.0.0.1", &["198.51.100.1:80, \t203.0.113.5:4711 "], "203.0.113.5");
    }

    #[test]
    fn lines_are_one_list() {
        check_caller("10.0.0.1", &["203.0.113.5", "10.0.0.2"], "203.0.113.5");
        check_caller("10.0.0.1", &["198.51.100.1", "198.51.100.2, 203.0.113.5"], "203.0.113.5");
        check_caller("10.0.0.1", &["203.0.113.5", "", "10.0.0.2"], "10.0.0.2");
    }

    #[test]
    fn an_address_written_by_an_untrusted_peer_is_ignored() {
        check_caller("203.0.113.9", &["198.51.100.1"], "203.0.113.9");
        check_caller("192.0.2.2", &["198.51.100.1, 10.0.0.2"], "192.0.2.2");
    }

    #[test]
    fn addresses_before_an_unreadable_entry_are_ignored() {
        check_caller("10.0.0.1", &[], "10.0.0.1");
        for unreadable in ["", "unknown", "unix:", "203.0.113.256", "203.0.113.5 10.0.0.3", "é"] {
            let line = format!("198.51.100.1, {unreadable}");
            check_caller("10.0.0.1", &[&line], "10.0.0.1");
            check_caller("10.0.0.1", &[&line, "10.0.0.2"], "10.0.0.2");
        }
        assert_eq!(found("10.0.0.1", &[b"203.0.113.5, \xff\xfe"]), Ipv4Addr::new(10, 0, 0, 1));
    }

    #[test]
    fn the_caller_is_the_farthest_address_if_all_are_proxies() {
        check_caller("10.0.0.1", &["10.0.0.3, 10.0.0.2"], "10.0.0.3");
        let many: Vec<_> = (1..=100).rev().map(|number| format!("10.0.1.{number}")).collect();
        check_caller("10.0.0.1", &[&many.join(",")], &format!("10.0.1.{MOST_PROXIES}"));
    }

    /// Generates header lines that a client may forge, some of which look like the lines of a proxy.
    fn forged() -> impl Strategy<Value = Vec<Vec<u8>>> {
        let entry = prop_oneof![
            any::<IpAddr>().prop_map(|address| address.to_string()),
            any::<[u8; 3]>().prop_map(|[a, b, c]| format!("10.{a}.{b}.{c}")),
            "[ \t,.:\\[\\]0-9a-fx]{0,40}",
            Just(String::new()),
        ];
        let line =
            prop::collection::vec(entry, 0..6).prop_map(|entries| entries.join(",").into_bytes());
        let bytes = prop::collection::vec(prop_oneof![0x20..0x7f_u8, 0x80..=0xff_u8], 0..60);
        prop::collection::vec(prop_oneof![line, bytes], 0..5)
    }

    proptest! {
        #[test]
        fn a_header_that_a_client_forges_does_not_change_the_found_caller(
            mut lines in forged(),
            caller in any::<IpAddr>(),
            hops in prop::collection::vec(any::<(u8, bool)>(), 0..5),
        ) {
            prop_assume!(!proxies().iter().any(|proxy| proxy.has(caller)));
            // Each proxy appends the address of its own caller, to the last line or on a new line.
            let mut peer = caller;
            for (number, adds_line) in [(0, false)].into_iter().chain(hops) {
                let said = peer.to_string();
                match lines.last_mut().filter(|_| !adds_line) {
                    Some(line) => line.extend([b", ", said.as_bytes()].concat()),
                    None => lines.push(said.into_bytes()),
                }
                peer = Ipv4Addr::new(10, 0, 0, number).into();
            }
            let lines: Vec<_> = lines.iter().map(|line| &**line).collect();
            prop_assert_eq!(found(&peer.to_string(), &lines), caller);
        }

        #[test]
        fn a_random_header_causes_no_panic_and_an_untrusted_peer_stays_the_caller(
            lines in forged(),
            peer in prop_oneof![any::<IpAddr>(), Just(Ipv4Addr::new(10, 0, 0, 1).into())],
        ) {
            let lines: Vec<_> = lines.iter().map(|line| &**line).collect();
            let is_proxy = |address| proxies().iter().any(|proxy| proxy.has(address));
            let answer = found(&peer.to_string(), &lines);
            prop_assert!(is_proxy(peer) || answer == peer);
        }
    }
}
