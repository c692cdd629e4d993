//! Callers that a rate limit remembers. The table is small and bounded, and drops a caller that need not wait any more.

use std::{
    hash::{BuildHasher as _, RandomState},
    net::IpAddr,
    sync::{Mutex, MutexGuard, PoisonError},
};

use rustc_hash::FxHashMap;

use crate::call::context::Carrier;

/// Identity of a caller, as far as it is known.
#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq)]
pub enum Who<'a> {
    /// Principal by its name.
    Principal(&'a str),
    /// Session, or connection of one client, by its number.
    Peer(u64),
    #[cfg_attr(not(feature = "http"), allow(dead_code, reason = "only HTTP has addresses"))]
    /// Address, or network of an address, without a known principal.
    Address(IpAddr),
    /// HTTP client without a principal, in an application that does not provide its address.
    #[cfg_attr(not(feature = "http"), allow(dead_code, reason = "only HTTP has such"))]
    Anybody,
}

impl<'a> Who<'a> {
    /// Returns the principal of this name. An empty name means that none is known.
    pub(crate) fn named(principal: &'a str) -> Self {
        if principal.is_empty() { Self::Anybody } else { Self::Principal(principal) }
    }

    /// Returns the sender of a message: the principal, or the address if none is known.
    pub(crate) fn sends(carrier: &'a Carrier) -> Self {
        let principal = Self::named(carrier.principal());
        #[cfg(feature = "http")]
        if let (Self::Anybody, Some(address)) = (principal, carrier.address) {
            return Self::at(address);
        }
        principal
    }

    /// Returns the caller at this address. All IPv6 addresses of a /64 network are one caller, because one client usually has them all.
    #[cfg(feature = "http")]
    pub fn at(address: IpAddr) -> Self {
        let address = match address.to_canonical() {
            IpAddr::V6(it) => {
                let [a, b, c, d, ..] = it.segments();
                IpAddr::V6([a, b, c, d, 0, 0, 0, 0].into())
            }
            it @ IpAddr::V4(_) => it,
        };
        Self::Address(address)
    }
}

const PARTS: usize = 16;

/// Callers by a keyed hash, so that clients cannot make two callers collide. The table has several parts, so that different callers seldom
/// wait for each other.
pub(super) struct Callers {
    hasher: RandomState,
    parts: [Mutex<Part>; PARTS],
}

#[derive(Default)]
pub(super) struct Part {
    /// Due time of the next call of each caller, in nanoseconds since the first call of any caller.
    kept: FxHashMap<u64, u64>,
    /// Number of entries at which the part is searched for entries that can be dropped.
    look_at: usize,
}

impl Callers {
    pub(super) fn new() -> Self {
        Self { hasher: RandomState::new(), parts: Default::default() }
    }

    pub(super) fn key(&self, who: Who<'_>) -> u64 {
        self.hasher.hash_one(who)
    }

    pub(super) fn part(&self, key: u64) -> MutexGuard<'_, Part> {
        // The hash table of a part uses the highest and the lowest bits, so the part is chosen by bits between them.
        let at = (key >> 32) as usize % PARTS;
        self.parts[at].lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.parts.iter().map(|it| it.lock().unwrap().kept.len()).sum()
    }
}

impl Part {
    const LEAST: usize = 16;
    /// Maximum number of callers in a part. All parts together have 8,192.
    const MOST: usize = 512;

    /// Returns the due time of this caller's next call. The caller is remembered from here on.
    pub(super) fn due(&mut self, key: u64, now: u64) -> &mut u64 {
        if self.kept.len() >= self.look_at.max(Self::LEAST) && !self.kept.contains_key(&key) {
            self.make_room(now);
        }
        self.kept.entry(key).or_default()
    }

    fn make_room(&mut self, now: u64) {
        // A caller whose `due` time has passed is equal to a new caller, so its entry can be dropped.
        self.kept.retain(|_, due| *due > now);
        if self.kept.len() >= Self::MOST {
            // Dropping the caller with the shortest wait makes the least difference.
            if let Some(key) = self.kept.iter().min_by_key(|(_, due)| **due).map(|it| *it.0) {
                self.kept.remove(&key);
            }
        }
        self.kept.shrink_to(2 * self.kept.len());
        // The next search comes at twice the size, so that its cost for each new caller does not grow with the table.
        self.look_at = (2 * self.kept.len()).clamp(Self::LEAST, Self::MOST);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callers_that_need_not_wait_are_forgotten() {
        let mut part = Part::default();
        for key in 0..300 {
            *part.due(key, 0) = if key < 20 { 1_000 } else { 10 };
        }
        assert_eq!(part.kept.len(), 300);
        for key in 300..600 {
            *part.due(key, 500) = 510;
        }
        assert!(part.kept.len() <= 20 + 300, "{}", part.kept.len());
        assert!((0..20).all(|it| part.kept.contains_key(&it)), "somebody who has to wait");
    }

    #[test]
    fn the_number_of_remembered_callers_is_bounded() {
        let mut part = Part::default();
        for key in 0..10_000 {
            *part.due(key, 0) = 1_000_000 - key;
        }
        assert_eq!(part.kept.len(), Part::MOST);
        // The callers that were due first have been dropped.
        assert!(part.kept.contains_key(&0) && !part.kept.contains_key(&9_000));
    }

    #[cfg(feature = "http")]
    #[test]
    fn addresses_of_one_network_are_one_caller() {
        let check = |one: &str, other: &str, same: bool| {
            let who = |it: &str| Who::at(it.parse().unwrap());
            assert_eq!(who(one) == who(other), same, "{one} {other}");
        };
        check("192.0.2.1", "192.0.2.1", true);
        check("192.0.2.1", "192.0.2.2", false);
        check("192.0.2.1", "::ffff:192.0.2.1", true);
        check("2001:db8::1", "2001:db8::ffff:2", true);
        check("2001:db8::1", "2001:db8:0:1::1", false);
    }
}
