//! Limits of an item: how often each caller may call it, and how many calls of all callers may run at once.

use std::{
    fmt,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU32, AtomicU64, Ordering},
    },
    time::Duration,
};

use super::{
    caller::CallerKey,
    leases::{PlaceEnd, SharedPlace},
    rate_limiter::RateLimiter,
    shared_gate::{NotAdmitted, SharedGate, SharedLimits},
    stats::Limit,
};
use crate::{model::Rate, storage::Transaction};

/// Gate that enforces the `rate` and the `concurrency` of an item. An item that sets neither has no gate.
pub(crate) struct ItemGate {
    limiter: Option<RateLimiter>,
    /// Maximum number of concurrent calls, for all callers together. Callers share this limit, because the resource behind an item does not
    /// grow with the number of callers.
    concurrency: Option<u32>,
    running: AtomicU32,
    refused: [AtomicU64; 2],
    /// Counter that all servers with the same store share. Empty if this server counts alone.
    shared: OnceLock<SharedGate>,
}

/// Rate and concurrency that an item declares, or that the server declares as the default of its items.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RateConfig {
    pub(crate) rate: Option<Rate>,
    pub(crate) concurrency: Option<u32>,
}

impl RateConfig {
    /// Replaces unset values with those of `other`, such as the defaults of the server.
    pub(crate) fn or(self, other: Self) -> Self {
        let Self { rate, concurrency } = self;
        Self { rate: rate.or(other.rate), concurrency: concurrency.or(other.concurrency) }
    }

    /// Returns a description of the problem if these limits would reject every call.
    pub(crate) fn problem(self) -> Option<&'static str> {
        let zero = "with a concurrency of 0 nothing could be called";
        let zero = (self.concurrency == Some(0)).then_some(zero);
        self.rate.and_then(Rate::problem).or(zero)
    }

    pub(crate) fn gate(self) -> Option<Arc<ItemGate>> {
        let Self { rate, concurrency } = self;
        let is_open = rate.is_none() && concurrency.is_none();
        (!is_open).then(|| {
            Arc::new(ItemGate {
                limiter: rate.map(RateLimiter::new),
                concurrency,
                running: AtomicU32::new(0),
                refused: Default::default(),
                shared: OnceLock::new(),
            })
        })
    }
}

/// Reason why a call is refused.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Closed {
    TooOften(Rate, Duration),
    TooMany(u32),
    /// The store that several servers share cannot count the call.
    Uncounted,
}

impl Closed {
    /// Returns the limit that refuses the call, or `None` if the store cannot count the call.
    pub(crate) fn limit(&self) -> Option<Limit> {
        match self {
            Self::TooOften(..) => Some(Limit::Rate),
            Self::TooMany(_) => Some(Limit::Concurrency),
            Self::Uncounted => None,
        }
    }

    /// Returns the error text for the model.
    pub(crate) fn text(&self, name: &str) -> String {
        match self {
            Self::TooOften(rate, wait) => {
                format!("`{name}` may be called {rate}; try again in {}", Seconds(*wait))
            }
            Self::TooMany(1) => {
                format!("a call of `{name}` is running already: wait until it has ended")
            }
            Self::TooMany(most) => {
                format!("{most} calls of `{name}` are running already: wait until one has ended")
            }
            Self::Uncounted => format!(
                "the store of the server, which counts the calls of `{name}`, is not available: try again later"
            ),
        }
    }
}

/// Displays a time in seconds, rounded up, so that a caller that waits for the displayed time is admitted.
struct Seconds(Duration);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tenths = self.0.as_nanos().div_ceil(100_000_000);
        match (tenths / 10, tenths % 10) {
            (0..10, 1..) => write!(f, "{}.{} s", tenths / 10, tenths % 10),
            _ => write!(f, "{} s", tenths.div_ceil(10)),
        }
    }
}

impl ItemGate {
    /// Admits a call. If concurrency is limited, the call counts as running until the returned permit is dropped.
    ///
    /// # Errors
    /// Fails if the rate or the concurrency limit rejects the call.
    pub(crate) fn enter(self: &Arc<Self>, who: CallerKey<'_>) -> Result<Option<Permit>, Closed> {
        // Concurrency is checked first, so that a call that exceeds it does not count toward the rate.
        let permit = match self.concurrency {
            None => None,
            Some(most) => {
                let room = |running: u32| (running < most).then_some(running + 1);
                let taken = self.running.fetch_update(Ordering::AcqRel, Ordering::Acquire, room);
                taken.map_err(|_| self.refuse(Closed::TooMany(most)))?;
                Some(Permit::Own(self.clone()))
            }
        };
        if let Some(limiter) = &self.limiter {
            let passed = limiter.pass(who);
            passed.map_err(|wait| self.refuse(Closed::TooOften(limiter.rate(), wait)))?;
        }
        Ok(permit)
    }

    /// Lets several servers that share a store count the calls of an item together. `item` names the item in the store. Only the first call
    /// of this method has an effect.
    pub(crate) fn share(&self, limits: Arc<SharedLimits>, item: &str) {
        let _ = self.shared.set(SharedGate::new(limits, item));
    }

    /// Returns the operation that counts the running calls on all servers with the same store, if concurrency is limited.
    pub(crate) fn count(&self) -> Option<Transaction> {
        self.concurrency?;
        self.shared.get().map(SharedGate::count)
    }

    /// Returns a call of this caller that the store has to admit. Returns `None` if this server counts alone. In this case
    /// [`enter`](Self::enter) admits the call.
    pub(crate) fn entering(self: &Arc<Self>, who: CallerKey<'_>) -> Option<EnteringCall> {
        let caller = self.shared.get()?.caller(who);
        Some(EnteringCall { gate: self.clone(), caller })
    }

    /// Readmits a call that was running before a restart of the server, even if the limit is exceeded. Returns `None` if concurrency is not
    /// limited.
    pub(crate) fn reenter(self: &Arc<Self>) -> Option<Permit> {
        self.concurrency?;
        if let Some(shared) = self.shared.get() {
            return Some(Permit::Shared(Box::new(shared.reenter())));
        }
        self.running.fetch_add(1, Ordering::AcqRel);
        Some(Permit::Own(self.clone()))
    }

    #[cold]
    fn refuse(&self, closed: Closed) -> Closed {
        if let Some(limit) = closed.limit() {
            let at = usize::from(limit == Limit::Concurrency);
            self.refused[at].fetch_add(1, Ordering::Relaxed);
        }
        closed
    }

    /// Returns the number of calls that the rate has rejected, and the number that the concurrency limit has rejected.
    pub(crate) fn refused(&self) -> [u64; 2] {
        self.refused.each_ref().map(|count| count.load(Ordering::Relaxed))
    }
}

/// Permit of a running call. Dropping the permit allows another call.
pub(crate) enum Permit {
    /// Counts toward the calls that run in this server.
    Own(Arc<ItemGate>),
    /// Counts toward the calls that run in all servers with the same store.
    Shared(#[allow(dead_code, reason = "held until the call ends")] Box<SharedPlace>),
}

impl Drop for Permit {
    fn drop(&mut self) {
        if let Self::Own(gate) = self {
            gate.running.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

/// Call that waits until the shared store has counted it.
pub(crate) struct EnteringCall {
    gate: Arc<ItemGate>,
    caller: String,
}

impl EnteringCall {
    /// Counts the call. If concurrency is limited, returns the permit of the call, and a [`PlaceEnd`], with which the answer waits until
    /// the place has been given back.
    ///
    /// # Errors
    /// Fails if the rate or the concurrency limit rejects the call, or if the store fails.
    ///
    /// # Cancel safety
    /// If the future is dropped, the place of the call is given back.
    pub(crate) async fn enter(self) -> Result<Option<(Permit, PlaceEnd)>, Closed> {
        let Self { gate, caller } = self;
        let Some(shared) = gate.shared.get() else { return Ok(None) };
        let rate = gate.limiter.as_ref().map(RateLimiter::rate);
        let taken = shared.enter(caller, rate, gate.concurrency).await;
        let taken = taken.map_err(|why| {
            gate.refuse(match (why, rate, gate.concurrency) {
                (NotAdmitted::Wait(wait), Some(rate), _) => Closed::TooOften(rate, wait),
                (NotAdmitted::NoPlace, _, Some(most)) => Closed::TooMany(most),
                _ => Closed::Uncounted,
            })
        })?;
        Ok(taken.map(|(place, end)| (Permit::Shared(Box::new(place)), end)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_displayed_in_seconds_and_rounded_up() {
        let check = |nanos: u64, expected: &str| {
            assert_eq!(Seconds(Duration::from_nanos(nanos)).to_string(), expected, "{nanos}");
        };
        check(1, "0.1 s");
        check(100_000_000, "0.1 s");
        check(100_000_001, "0.2 s");
        check(950_000_000, "1 s");
        check(1_000_000_000, "1 s");
        check(9_910_000_000, "10 s");
        check(10_010_000_000, "11 s");
        check(3_600_000_000_000, "3600 s");
    }

    #[tokio::test(start_paused = true)]
    async fn remembered_callers_are_bounded_in_number_and_forgotten_in_time() {
        let config = RateConfig { rate: Some(Rate::per_second(1)), concurrency: Some(2) };
        let gate = config.gate().unwrap();
        let remembered = || gate.limiter.as_ref().unwrap().remembered();
        for caller in 0..20_000 {
            assert!(gate.enter(CallerKey::Peer(caller)).is_ok(), "{caller}");
        }
        assert!(remembered() <= 8192, "{}", remembered());
        tokio::time::advance(Duration::from_secs(2)).await;
        for caller in 0..1000 {
            assert!(gate.enter(CallerKey::Peer(caller)).is_ok(), "{caller}");
        }
        assert!(remembered() <= 2000, "{}", remembered());
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_refused_for_concurrency_does_not_count_toward_the_rate() {
        let config = RateConfig { rate: Some(Rate::per_hour(2)), concurrency: Some(1) };
        let gate = config.gate().unwrap();
        let first = gate.enter(CallerKey::Principal("a")).unwrap();
        for who in ["a", "b", "a", "b"] {
            assert_eq!(
                gate.enter(CallerKey::Principal(who)).err(),
                Some(Closed::TooMany(1)),
                "{who}"
            );
        }
        drop(first);
        drop(gate.enter(CallerKey::Principal("a")).unwrap());
        let closed = gate.enter(CallerKey::Principal("a")).err();
        assert_eq!(closed, Some(Closed::TooOften(Rate::per_hour(2), Duration::from_secs(1800))));
        // A call that the rate limit rejects does not count toward the concurrency limit.
        assert!(gate.enter(CallerKey::Principal("b")).is_ok());
        assert_eq!(gate.refused(), [1, 4]);
    }

    #[test]
    fn a_readmitted_call_counts_toward_the_concurrency() {
        let gate = RateConfig { rate: None, concurrency: Some(1) }.gate().unwrap();
        let (one, other) = (gate.reenter(), gate.reenter());
        assert!(gate.enter(CallerKey::Peer(1)).is_err());
        drop(one);
        assert!(gate.enter(CallerKey::Peer(1)).is_err());
        drop(other);
        assert!(gate.enter(CallerKey::Peer(1)).is_ok());
    }
}
