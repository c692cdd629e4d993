//! How often one address may try something that should not be tried without end.

use std::{
    collections::HashMap,
    net::{IpAddr, Ipv4Addr},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

/// Addresses that are remembered; the others share one place.
const MOST: usize = 4096;

/// So many at once, and one more in each period: the generic cell rate algorithm.
pub(super) struct Guard {
    burst: u32,
    period: Duration,
    /// When all of an address would be forgotten.
    due: Mutex<HashMap<IpAddr, Instant>>,
}

impl Guard {
    pub(super) fn new(burst: u32, period: Duration) -> Self {
        Self { burst, period, due: Mutex::default() }
    }

    /// Takes back one time that was counted.
    pub(super) fn give_back(&self, address: Option<IpAddr>) {
        let mut due = self.due.lock().unwrap_or_else(PoisonError::into_inner);
        let place = place(&due, address);
        if let Some(due) = due.get_mut(&place) {
            *due = due.checked_sub(self.period).unwrap_or(*due);
        }
    }

    /// Counts one time, unless there were too many.
    pub(super) fn take(&self, address: Option<IpAddr>) -> bool {
        let now = Instant::now();
        let mut due = self.due.lock().unwrap_or_else(PoisonError::into_inner);
        if due.len() >= MOST {
            due.retain(|_, it| *it > now);
        }
        let place = place(&due, address);
        let may = self.has_room(due.get(&place), now);
        if may {
            let it = due.entry(place).or_insert(now);
            *it = (*it).max(now) + self.period;
        }
        may
    }

    fn has_room(&self, due: Option<&Instant>, now: Instant) -> bool {
        due.is_none_or(|it| it.saturating_duration_since(now) <= self.period * (self.burst - 1))
    }
}

/// Whose an address is, as far as that can be told: of IPv6 the network of 64 bits counts, of which one client usually has all.
pub(super) fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(it) => {
            let [a, b, c, d, ..] = it.segments();
            IpAddr::V6([a, b, c, d, 0, 0, 0, 0].into())
        }
        it => it,
    }
}

fn place(known: &HashMap<IpAddr, Instant>, address: Option<IpAddr>) -> IpAddr {
    const SHARED: IpAddr = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
    let own = address.map_or(SHARED, network);
    if known.len() < MOST || known.contains_key(&own) { own } else { SHARED }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_burst_passes_and_then_one_in_each_period() {
        let guard = Guard::new(3, Duration::from_secs(10));
        let (ada, bob) = (Some([10, 0, 0, 1].into()), Some([10, 0, 0, 2].into()));
        assert!((0..3).all(|_| guard.take(ada)));
        assert!(!guard.take(ada));
        guard.give_back(ada);
        assert!(guard.take(ada) && !guard.take(ada));
        assert!(guard.take(bob));
        tokio::time::advance(Duration::from_secs(10)).await;
        assert!(guard.take(ada) && !guard.take(ada));
    }

    #[tokio::test(start_paused = true)]
    async fn addresses_are_bounded() {
        let guard = Guard::new(1, Duration::from_secs(10));
        for it in 0..20_000_u32 {
            guard.take(Some(Ipv4Addr::from(it + 1).into()));
        }
        assert!(guard.due.lock().unwrap().len() <= MOST + 1);
        // Of one network there is one place.
        let at = |it: &str| Some(it.parse::<IpAddr>().unwrap());
        tokio::time::advance(Duration::from_secs(10)).await;
        assert!(guard.take(at("2001:db8::1")) && !guard.take(at("2001:db8::2")));
    }
}
