//! Decides which URLs the server may fetch. The documents of an issuer come from another machine, and must not make this server send
//! requests into its own network (SSRF).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use http::{Uri, uri::Scheme};

/// Rules for the URLs that may be fetched, based on the hosts that the author has named.
pub(super) struct Reachable {
    /// Hosts in lower case, with their ports. If there is an issuer, the first entry is its host.
    named: Vec<(String, u16)>,
    is_loopback: bool,
}

/// Destination of a request.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Target {
    /// Host in lower case. An IPv6 address has no brackets.
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) has_tls: bool,
    /// Value of the header `Host`.
    pub(super) authority: String,
    /// Path with its query.
    pub(super) path: String,
}

impl Target {
    /// Parses a URL.
    ///
    /// # Errors
    /// Fails if the text is not a URL that can be fetched.
    pub(super) fn parse(url: &str) -> Result<Self, String> {
        let uri: Uri = url.parse().map_err(|_| format!("`{url}` is not a URL"))?;
        let has_tls = match uri.scheme() {
            Some(scheme) if *scheme == Scheme::HTTPS => true,
            Some(scheme) if *scheme == Scheme::HTTP => false,
            _ => return Err(format!("`{url}` is not an https URL")),
        };
        let authority = uri.authority().filter(|authority| !authority.as_str().contains('@'));
        let authority =
            authority.ok_or_else(|| format!("`{url}` must name a host, without a user name"))?;
        let host = authority.host().trim_start_matches('[').trim_end_matches(']');
        if host.is_empty() {
            return Err(format!("`{url}` has no host"));
        }
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        Ok(Self {
            host: host.to_ascii_lowercase(),
            port: authority.port_u16().unwrap_or(if has_tls { 443 } else { 80 }),
            has_tls,
            authority: authority.as_str().to_owned(),
            path: path.to_owned(),
        })
    }

    /// Returns the host with its port, in the form that `CONNECT` needs.
    pub(super) fn host_and_port(&self) -> String {
        let Self { host, port, .. } = self;
        if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
    }

    /// Whether the host of the target is `localhost` or a loopback address.
    pub(super) fn is_loopback(&self) -> bool {
        self.host == "localhost"
            || self.host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    }
}

impl Reachable {
    /// Creates the rules for an issuer.
    ///
    /// # Errors
    /// Fails if the URL is not valid for an issuer.
    pub(super) fn from_issuer(issuer: &str) -> Result<Self, String> {
        let target = Target::parse(issuer)?;
        if issuer.contains(['?', '#']) {
            return Err(format!(
                "`{issuer}` has a query or a fragment, which an issuer must not have"
            ));
        }
        let is_loopback = target.is_loopback();
        if !target.has_tls && !is_loopback {
            return Err(format!(
                "`{issuer}` is not https: an attacker in the network could replace its keys"
            ));
        }
        Ok(Self { named: vec![(target.host, target.port)], is_loopback })
    }

    /// Creates the rules for URLs from untrusted sources. No host may have a private address. A loopback address is allowed only if
    /// `is_loopback` is set.
    pub(super) fn to_strangers(is_loopback: bool) -> Self {
        Self { named: Vec::new(), is_loopback }
    }

    /// Adds a host that the author has named.
    pub(super) fn name(&mut self, target: &Target) {
        self.named.push((target.host.clone(), target.port));
    }

    /// Whether the author has named this host.
    pub(super) fn is_named(&self, target: &Target) -> bool {
        self.named.iter().any(|(host, port)| *host == target.host && *port == target.port)
    }

    /// Checks a target before its host is looked up.
    ///
    /// # Errors
    /// Fails if the URL does not use TLS. Loopback targets are an exception if `is_loopback` is set.
    pub(super) fn check(&self, target: &Target) -> Result<(), String> {
        if target.has_tls || (self.is_loopback && target.is_loopback()) {
            Ok(())
        } else {
            Err(format!("`{}` is not contacted without TLS", target.authority))
        }
    }

    /// Whether a host may have this address. A host that the author has named may have any address.
    pub(super) fn may_be_at(&self, target: &Target, address: IpAddr) -> bool {
        self.is_named(target) || (self.is_loopback && address.is_loopback()) || is_public(address)
    }
}

/// Whether an address is globally reachable on the internet (RFC 6890).
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    !(a == 0
        || a >= 224
        || address.is_loopback()
        || address.is_private()
        || address.is_link_local()
        || address.is_documentation()
        || (a == 100 && b & 0xc0 == 64)
        || (a == 192 && b == 0 && c == 0)
        || (a == 192 && b == 88 && c == 99)
        || (a == 198 && b & 0xfe == 18))
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let parts = address.segments();
    let v4 = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match parts {
        // Only global unicast addresses are public, except the ranges for documentation and special purposes. If an address embeds an IPv4
        // address, it is public if the IPv4 address is.
        [0x2001, second, ..] => second > 0x1ff && second != 0xdb8,
        [0x2002, high, low, ..] => v4(high, low),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => v4(high, low),
        [0, 0, 0, 0, 0, 0xffff, high, low] => v4(high, low),
        [0x3fff, second, ..] => second > 0xfff,
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn issuers_are_https_or_on_this_machine() {
        for issuer in [
            "https://a.example",
            "https://a.example:8443/x",
            "http://localhost:1",
            "http://[::1]:1/r",
        ] {
            assert!(Reachable::from_issuer(issuer).is_ok(), "{issuer}");
        }
        for issuer in [
            "http://a.example",
            "http://localhost.evil.example",
            "https://user@a.example",
            "https://a.example?x",
            "https://a.example#x",
            "a.example",
            "ftp://a.example",
            "",
        ] {
            assert!(Reachable::from_issuer(issuer).is_err(), "{issuer}");
        }
    }

    #[test]
    fn documents_lead_to_public_addresses_only() {
        let reachable = |issuer| Reachable::from_issuer(issuer).unwrap();
        let check = |issuer: &Reachable, url: &str, address: &str, expected: bool| {
            let target = Target::parse(url).unwrap();
            let found = issuer.check(&target).is_ok()
                && issuer.may_be_at(&target, address.parse().unwrap());
            assert_eq!(found, expected, "{url} {address}");
        };
        let public = reachable("https://login.example");
        check(&public, "https://keys.example/k", "93.184.216.34", true);
        check(&public, "https://keys.example/k", "2606:2800:220:1::1", true);
        check(&public, "http://keys.example/k", "93.184.216.34", false);
        // The author has named this host, so it may have any address.
        check(&public, "https://login.example/k", "10.0.0.1", true);
        check(&public, "https://login.example:6379/k", "10.0.0.1", false);
        check(&public, "http://localhost/k", "127.0.0.1", false);
        for private in [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.0.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "198.18.0.1",
            "192.0.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "fe80::1",
            "fc00::1",
            "fd12::1",
            "ff02::1",
            "::ffff:10.0.0.1",
            "64:ff9b::a00:1",
            "2002:a00:1::",
            "2001:db8::1",
            "fec0::1",
            "::10.0.0.1",
        ] {
            check(&public, "https://keys.example/k", private, false);
        }
        let local = reachable("http://localhost:9000");
        check(&local, "http://127.0.0.1:9001/k", "127.0.0.1", true);
        check(&local, "http://localhost:9001/k", "::1", true);
        check(&local, "https://keys.example/k", "10.0.0.1", false);
        check(&local, "http://keys.example/k", "127.0.0.1", false);
    }
}
