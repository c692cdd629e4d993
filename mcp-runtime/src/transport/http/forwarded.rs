//! Address of the caller, even if proxies have forwarded the request.
//!
//! Each proxy appends the address that called it to `X-Forwarded-For`, so the list is read backwards. The first address in this order that
//! is not a proxy of ours is the caller. The caller may have written everything to the left of it, so that part is not trusted.

use std::net::IpAddr;

use http::{HeaderMap, request::Parts};

use crate::server::{Network, written_address};

const HEADER: &str = "x-forwarded-for";

/// Maximum number of proxies of a request. Behind more proxies, the request counts as coming from the last of these.
const MOST: usize = 16;

/// Returns the address of the caller, if it is known. `peer` is the other end of the connection, if the connection is our own. The address
/// is found anew for each request, because a proxy sends the requests of several callers over one connection.
pub(super) fn address(peer: Option<IpAddr>, proxies: &[Network], parts: &Parts) -> Option<IpAddr> {
    #[cfg(feature = "axum")]
    let peer = peer.or_else(|| super::router::address(parts));
    if proxies.is_empty() {
        return peer;
    }
    peer.map(|it| beyond(proxies, it, &parts.headers))
}

/// Returns the nearest address that is not one of these proxies, or the farthest address that could be read.
fn beyond(proxies: &[Network], peer: IpAddr, headers: &HeaderMap) -> IpAddr {
    let lines = headers.get_all(HEADER).iter().rev();
    let mut said = lines.flat_map(|it| it.as_bytes().rsplit(|byte| *byte == b','));
    let mut nearest = peer;
    for _ in 0..MOST {
        if !proxies.iter().any(|it| it.has(nearest)) {
            break;
        }
        let Some(next) = said.next().and_then(read) else { break };
        nearest = next;
    }
    nearest
}

fn read(entry: &[u8]) -> Option<IpAddr> {
    written_address(str::from_utf8(entry.trim_ascii()).ok()?)
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use http::HeaderValue;
    use proptest::prelude::*;

    use super::*;

    fn proxies() -> [Network; 3] {
        ["10.0.0.0/8", "192.0.2.1", "2001:db8::/32"].map(|it| Network::parse(it).unwrap())
    }

    fn found(peer: &str, lines: &[&[u8]]) -> IpAddr {
        let mut headers = HeaderMap::new();
        headers.append("Forwarded", HeaderValue::from_static("for=198.51.100.99"));
        for line in lines {
            headers.append(HEADER, HeaderValue::from_bytes(line).unwrap());
        }
        beyond(&proxies(), peer.parse().unwrap(), &headers)
    }

    #[track_caller]
    fn check(peer: &str, lines: &[&str], expected: &str) {
        let lines: Vec<_> = lines.iter().map(|it| it.as_bytes()).collect();
        assert_eq!(found(peer, &lines), expected.parse::<IpAddr>().unwrap());
    }

    #[test]
    fn the_caller_is_the_last_address_that_is_no_trusted_proxy() {
        check("10.0.0.1", &["203.0.113.5"], "203.0.113.5");
        check("10.0.0.1", &["203.0.113.5, 10.0.0.2,192.0.2.1"], "203.0.113.5");
        check("10.0.0.1", &["198.51.100.1, 203.0.113.5, 10.0.0.2"], "203.0.113.5");
        check("::ffff:10.0.0.1", &["203.0.113.5, ::ffff:10.0.0.2"], "203.0.113.5");
        check("2001:db8::1", &["2001:db9::5, [2001:db8::2]:443"], "2001:db9::5");
        check("10.0.0.1", &["198.51.100.1:80, \t203.0.113.5:4711 "], "203.0.113.5");
    }

    #[test]
    fn lines_are_one_list() {
        check("10.0.0.1", &["203.0.113.5", "10.0.0.2"], "203.0.113.5");
        check("10.0.0.1", &["198.51.100.1", "198.51.100.2, 203.0.113.5"], "203.0.113.5");
        check("10.0.0.1", &["203.0.113.5", "", "10.0.0.2"], "10.0.0.2");
    }

    #[test]
    fn an_address_written_by_an_untrusted_peer_is_ignored() {
        check("203.0.113.9", &["198.51.100.1"], "203.0.113.9");
        check("192.0.2.2", &["198.51.100.1, 10.0.0.2"], "192.0.2.2");
    }

    #[test]
    fn addresses_before_an_unreadable_entry_are_ignored() {
        check("10.0.0.1", &[], "10.0.0.1");
        for unreadable in ["", "unknown", "unix:", "203.0.113.256", "203.0.113.5 10.0.0.3", "é"] {
            let line = format!("198.51.100.1, {unreadable}");
            check("10.0.0.1", &[&line], "10.0.0.1");
            check("10.0.0.1", &[&line, "10.0.0.2"], "10.0.0.2");
        }
        assert_eq!(found("10.0.0.1", &[b"203.0.113.5, \xff\xfe"]), Ipv4Addr::new(10, 0, 0, 1));
    }

    #[test]
    fn the_caller_is_the_farthest_address_if_all_are_proxies() {
        check("10.0.0.1", &["10.0.0.3, 10.0.0.2"], "10.0.0.3");
        let many: Vec<_> = (1..=100).rev().map(|it| format!("10.0.1.{it}")).collect();
        check("10.0.0.1", &[&many.join(",")], &format!("10.0.1.{MOST}"));
    }

    /// Generates lines that a client may send, some of which look like a proxy's.
    fn forged() -> impl Strategy<Value = Vec<Vec<u8>>> {
        let entry = prop_oneof![
            any::<IpAddr>().prop_map(|it| it.to_string()),
            any::<[u8; 3]>().prop_map(|[a, b, c]| format!("10.{a}.{b}.{c}")),
            "[ \t,.:\\[\\]0-9a-fx]{0,40}",
            Just(String::new()),
        ];
        let line = prop::collection::vec(entry, 0..6).prop_map(|it| it.join(",").into_bytes());
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
            prop_assume!(!proxies().iter().any(|it| it.has(caller)));
            // Each proxy writes the address that called it, at the end of the last line or on a line of its own.
            let mut peer = caller;
            for (number, adds_line) in [(0, false)].into_iter().chain(hops) {
                let said = peer.to_string();
                match lines.last_mut().filter(|_| !adds_line) {
                    Some(line) => line.extend([b", ", said.as_bytes()].concat()),
                    None => lines.push(said.into_bytes()),
                }
                peer = Ipv4Addr::new(10, 0, 0, number).into();
            }
            let lines: Vec<_> = lines.iter().map(|it| &**it).collect();
            prop_assert_eq!(found(&peer.to_string(), &lines), caller);
        }

        #[test]
        fn a_random_header_causes_no_panic_and_an_untrusted_peer_stays_the_caller(
            lines in forged(),
            peer in prop_oneof![any::<IpAddr>(), Just(Ipv4Addr::new(10, 0, 0, 1).into())],
        ) {
            let lines: Vec<_> = lines.iter().map(|it| &**it).collect();
            let is_proxy = |it: IpAddr| proxies().iter().any(|network| network.has(it));
            let answer = found(&peer.to_string(), &lines);
            prop_assert!(is_proxy(peer) || answer == peer);
        }
    }
}
