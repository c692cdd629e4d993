//! Addresses and networks in settings, such as those of proxies.

use core::net::{IpAddr, Ipv6Addr, SocketAddr};

/// Address or network in a setting. IPv4 addresses are stored as IPv4-mapped IPv6 addresses (`::ffff:0:0/96`), because a socket may report
/// an IPv4 address in either form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Network {
    first: u128,
    /// Length of the network prefix, in bits. `parse` rejects a network of all addresses, so the length is never 0.
    bits: u32,
}

impl Network {
    /// Parses an address or a network.
    ///
    /// # Errors
    /// Fails if the text is neither an address nor a network. The error describes the problem and the fix.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (text, None),
        };
        let Ok(address) = address.parse::<IpAddr>() else {
            return Err(match written_address(text) {
                Some(bare) => format!("`{text}` is more than an address: write `{bare}`"),
                None => format!(
                    "`{text}` is not an address or a network, such as `10.0.0.7` or `10.0.0.0/8`; host names are not looked up"
                ),
            });
        };
        let most = if address.is_ipv4() { 32 } else { 128 };
        let of_prefix = |digits: &str| digits.parse().ok().filter(|bits: &u32| *bits <= most);
        let Some(prefix) = prefix.map_or(Some(most), of_prefix) else {
            return Err(format!(
                "`{text}` is not a network: the `/` must be followed by a number up to {most}"
            ));
        };
        let (number, bits) = (as_ipv6_number(address), prefix + 128 - most);
        let first = number.checked_shr(128 - bits).map_or(0, |prefix| prefix << (128 - bits));
        let network = Self { first, bits };
        if network.has_all_of_ipv4() {
            return Err(format!(
                "`{text}` covers all addresses, so any client could forge its address: name the proxies, such as `10.0.0.0/8`"
            ));
        }
        if first != number {
            let first = Ipv6Addr::from(first).to_canonical();
            return Err(format!(
                "`{text}` is an address in a network: write `{address}` or `{first}/{prefix}`"
            ));
        }
        Ok(network)
    }

    pub(crate) fn has(self, address: IpAddr) -> bool {
        (self.first ^ as_ipv6_number(address)) >> (128 - self.bits) == 0
    }

    fn has_all_of_ipv4(self) -> bool {
        self.bits <= 96 && (self.bits == 0 || self.has([0, 0, 0, 0].into()))
    }
}

fn as_ipv6_number(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().into(),
        IpAddr::V6(address) => address.into(),
    }
}

/// Parses an address in the forms that programs write: with or without brackets, with or without a port.
pub(crate) fn written_address(text: &str) -> Option<IpAddr> {
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    if let Some(bare) = bare {
        return bare.parse().ok().map(IpAddr::V6);
    }
    text.parse().ok().or_else(|| text.parse::<SocketAddr>().ok().map(|socket| socket.ip()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_has_its_own_addresses_and_no_others() {
        let check = |network: &str, inside: &[&str], outside: &[&str]| {
            let network = Network::parse(network).unwrap();
            for (addresses, expected) in [(inside, true), (outside, false)] {
                for address in addresses {
                    assert_eq!(network.has(address.parse().unwrap()), expected, "{address}");
                }
            }
        };
        check("10.0.0.0/8", &["10.0.0.0", "10.255.255.255", "::ffff:10.1.2.3"], &["11.0.0.0"]);
        check("192.0.2.7", &["192.0.2.7", "::ffff:192.0.2.7"], &["192.0.2.6", "::192.0.2.7"]);
        check("192.0.2.6/31", &["192.0.2.6", "192.0.2.7"], &["192.0.2.5", "192.0.2.8"]);
        check("128.0.0.0/1", &["128.0.0.0", "255.255.255.255"], &["127.255.255.255", "ff::"]);
        check("::ffff:10.0.0.0/104", &["10.9.9.9", "::ffff:10.0.0.1"], &["11.0.0.0"]);
        check("2001:db8::/32", &["2001:db8::", "2001:db8:ffff::1"], &["2001:db9::", "32.1.13.184"]);
        check("::1", &["::1"], &["::2", "127.0.0.1", "0.0.0.1"]);
        check("8000::/1", &["ffff::"], &["7fff::", "10.0.0.1"]);
    }

    #[test]
    fn addresses_are_read_as_they_are_written() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(
                written_address(text),
                expected.map(|address| address.parse().unwrap()),
                "{text}"
            );
        };
        check("192.0.2.7", Some("192.0.2.7"));
        check("192.0.2.7:4711", Some("192.0.2.7"));
        check("2001:db8::7", Some("2001:db8::7"));
        check("[2001:db8::7]", Some("2001:db8::7"));
        check("[2001:db8::7]:4711", Some("2001:db8::7"));
        check("::ffff:192.0.2.7", Some("::ffff:192.0.2.7"));
        for text in [
            "",
            "unknown",
            "_hidden",
            "unix:",
            "-",
            "192.0.2",
            "192.0.2.7:",
            "192.0.2.7:x",
            "[]",
            "[192.0.2.7]",
            "[2001:db8::7",
            "2001:db8::7]",
            "[[::1]]",
            "\"192.0.2.7\"",
            "192.0.2.07",
            "192.0.2.7 192.0.2.8",
            "for=192.0.2.7",
            "http://192.0.2.7",
            "localhost",
        ] {
            check(text, None);
        }
    }
}
