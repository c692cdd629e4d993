//! Keys by which the limits distinguish callers.

use core::net::IpAddr;

use crate::call::context::Carrier;

/// Key by which limits distinguish callers.
#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq)]
pub enum CallerKey<'a> {
    /// Name of the principal.
    Principal(&'a str),
    /// Number of the session, or of the connection if it has a single client.
    Peer(u64),
    /// Caller without a known principal: its IPv4 address, or its IPv6 network.
    #[cfg_attr(not(feature = "http"), allow(dead_code, reason = "only HTTP has addresses"))]
    Address(IpAddr),
    /// Callers that cannot be told apart, such as HTTP clients of an application that does not provide their addresses.
    #[cfg_attr(not(feature = "http"), allow(dead_code, reason = "only HTTP has such"))]
    Anybody,
}

impl<'a> CallerKey<'a> {
    /// Returns the key of the principal with this name. An empty name means that no principal is known.
    pub(crate) fn of_principal(principal: &'a str) -> Self {
        if principal.is_empty() { Self::Anybody } else { Self::Principal(principal) }
    }

    /// Returns the key of the sender of a message: the principal, or the address if no principal is known.
    pub(crate) fn of_sender(carrier: &'a Carrier) -> Self {
        let principal = Self::of_principal(carrier.principal());
        #[cfg(feature = "http")]
        if let (Self::Anybody, Some(address)) = (principal, carrier.address) {
            return Self::of_address(address);
        }
        principal
    }

    /// Returns the key of the caller at this address. All IPv6 addresses of a /64 network have the same key, because a network of this size
    /// usually belongs to a single client.
    #[cfg(feature = "http")]
    pub fn of_address(address: IpAddr) -> Self {
        let address = match address.to_canonical() {
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                IpAddr::V6([a, b, c, d, 0, 0, 0, 0].into())
            }
            address @ IpAddr::V4(_) => address,
        };
        Self::Address(address)
    }
}

#[cfg(all(test, feature = "http"))]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_one_network_are_one_caller() {
        let check = |one: &str, other: &str, same: bool| {
            let who = |address: &str| CallerKey::of_address(address.parse().unwrap());
            assert_eq!(who(one) == who(other), same, "{one} {other}");
        };
        check("192.0.2.1", "192.0.2.1", true);
        check("192.0.2.1", "192.0.2.2", false);
        check("192.0.2.1", "::ffff:192.0.2.1", true);
        check("2001:db8::1", "2001:db8::ffff:2", true);
        check("2001:db8::1", "2001:db8:0:1::1", false);
    }
}
