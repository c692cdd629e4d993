//! Rate limits by the generic cell rate algorithm, which stores a single number for each caller.

use std::{
    hash::{BuildHasher as _, RandomState},
    sync::{Mutex, MutexGuard, OnceLock, PoisonError},
    time::Duration,
};

use rustc_hash::FxHashMap;
use tokio::time::Instant;

use super::caller::CallerKey;
use crate::model::Rate;

/// Rate limiter that applies the same rate to each caller separately.
pub struct RateLimiter {
    rate: Rate,
    cell_rate: CellRate,
    callers: CallerTable,
    /// Time of the first attempt, from which the limiter counts nanoseconds.
    since: OnceLock<Instant>,
}

impl RateLimiter {
    /// Creates a limiter that no caller has used yet.
    pub fn new(rate: Rate) -> Self {
        Self {
            rate,
            cell_rate: CellRate::new(rate),
            callers: CallerTable::new(),
            since: OnceLock::new(),
        }
    }

    pub(super) fn rate(&self) -> Rate {
        self.rate
    }

    /// Counts an attempt of a caller.
    ///
    /// # Errors
    /// Fails if the caller has to wait. The attempt then does not count. The error is the time to wait.
    pub fn pass(&self, who: CallerKey<'_>) -> Result<(), Duration> {
        let now = self.now();
        let key = self.callers.key(who);
        let mut shard = self.callers.shard(key);
        let due = shard.due(key, now);
        *due = self.cell_rate.take(*due, now)?;
        Ok(())
    }

    /// Undoes the count of an attempt.
    #[cfg(feature = "auth")]
    pub fn give_back(&self, who: CallerKey<'_>) {
        let key = self.callers.key(who);
        let mut shard = self.callers.shard(key);
        let due = shard.due(key, self.now());
        *due = due.saturating_sub(self.rate.interval());
    }

    fn now(&self) -> u64 {
        let since = self.since.get_or_init(Instant::now);
        u64::try_from(since.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    #[cfg(test)]
    pub(super) fn remembered(&self) -> usize {
        self.callers.len()
    }
}

/// Interval between calls and slack of a rate, in nanoseconds. Points in time are nanoseconds since a common start.
#[derive(Clone, Copy, Debug)]
struct CellRate {
    interval: u64,
    slack: u64,
}

impl CellRate {
    fn new(rate: Rate) -> Self {
        Self { interval: rate.interval(), slack: rate.slack() }
    }

    /// Admits a call at the time `now` by a caller whose next call is due at the time `due`. Returns the due time of the call after this
    /// one. A caller whose due time has passed is treated like a new caller.
    ///
    /// # Errors
    /// Fails if the call comes too early. The call then does not count. The error is the time to wait.
    fn take(self, due: u64, now: u64) -> Result<u64, Duration> {
        let ahead = due.saturating_sub(now);
        if ahead > self.slack {
            return Err(Duration::from_nanos(ahead - self.slack));
        }
        Ok(due.max(now).saturating_add(self.interval))
    }
}

/// Number of shards of [`CallerTable`].
const SHARDS: usize = 16;

/// Table of callers. Its hash is keyed, so that clients cannot cause collisions. Its shards have separate locks, so that different callers
/// seldom wait for each other.
struct CallerTable {
    hasher: RandomState,
    shards: [Mutex<CallerShard>; SHARDS],
}

#[derive(Default)]
struct CallerShard {
    /// Due time of the next call of each caller, in nanoseconds since the first call of any caller.
    kept: FxHashMap<u64, u64>,
    /// Number of entries at which the shard is swept for entries that can be dropped.
    look_at: usize,
}

impl CallerTable {
    fn new() -> Self {
        Self { hasher: RandomState::new(), shards: Default::default() }
    }

    fn key(&self, who: CallerKey<'_>) -> u64 {
        self.hasher.hash_one(who)
    }

    fn shard(&self, key: u64) -> MutexGuard<'_, CallerShard> {
        // The key is a keyed hash, so any of its bits can select the shard.
        let at = (key >> 32) as usize % SHARDS;
        self.shards[at].lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.lock().unwrap().kept.len()).sum()
    }
}

impl CallerShard {
    const LEAST: usize = 16;
    /// Maximum number of callers in a shard. All shards together hold at most 8,192 callers.
    const MOST: usize = 512;

    /// Returns the due time of this caller's next call. Adds a new caller to the shard.
    fn due(&mut self, key: u64, now: u64) -> &mut u64 {
        if self.kept.len() >= self.look_at.max(Self::LEAST) && !self.kept.contains_key(&key) {
            self.make_room(now);
        }
        self.kept.entry(key).or_default()
    }

    fn make_room(&mut self, now: u64) {
        // A caller whose `due` time has passed is treated like a new caller, so its entry can be dropped.
        self.kept.retain(|_, due| *due > now);
        if self.kept.len() >= Self::MOST {
            // The due times of all remaining callers lie in the future. Drops the caller whose due time comes first, because forgetting it
            // affects the rate least.
            if let Some(key) = self.kept.iter().min_by_key(|(_, due)| **due).map(|(key, _)| *key) {
                self.kept.remove(&key);
            }
        }
        self.kept.shrink_to(2 * self.kept.len());
        // The next sweep runs at twice the size, so that the cost per new caller does not grow with the table.
        self.look_at = (2 * self.kept.len()).clamp(Self::LEAST, Self::MOST);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[cfg(feature = "auth")]
    #[tokio::test(start_paused = true)]
    async fn a_pass_that_is_given_back_may_be_taken_again() {
        let limiter = RateLimiter::new(Rate::per_minute(6).burst(3));
        let [ada, bob] =
            ["10.0.0.1", "10.0.0.2"].map(|address| CallerKey::of_address(address.parse().unwrap()));
        let may = |who| limiter.pass(who).is_ok();
        assert!((0..3).all(|_| may(ada)));
        assert!(!may(ada) && may(bob));
        limiter.give_back(ada);
        assert!(may(ada) && !may(ada));
        limiter.give_back(CallerKey::Anybody);
        assert!((0..3).all(|_| may(CallerKey::Anybody)) && !may(CallerKey::Anybody));
        tokio::time::advance(Duration::from_secs(10)).await;
        assert!(may(ada) && !may(ada));
    }

    #[test]
    fn callers_that_need_not_wait_are_forgotten() {
        let mut shard = CallerShard::default();
        for key in 0..300 {
            *shard.due(key, 0) = if key < 20 { 1_000 } else { 10 };
        }
        assert_eq!(shard.kept.len(), 300);
        for key in 300..600 {
            *shard.due(key, 500) = 510;
        }
        assert!(shard.kept.len() <= 20 + 300, "{}", shard.kept.len());
        assert!((0..20).all(|key| shard.kept.contains_key(&key)), "somebody who has to wait");
    }

    #[test]
    fn the_number_of_remembered_callers_is_bounded() {
        let mut shard = CallerShard::default();
        for key in 0..10_000 {
            *shard.due(key, 0) = 1_000_000 - key;
        }
        assert_eq!(shard.kept.len(), CallerShard::MOST);
        // The callers that were due first have been dropped.
        assert!(shard.kept.contains_key(&0) && !shard.kept.contains_key(&9_000));
    }

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn a_burst_passes_and_then_one_for_each_interval() {
        let cell_rate = CellRate::new(Rate::per_second(2).burst(3));
        let mut due = 0;
        for _ in 0..3 {
            due = cell_rate.take(due, SECOND).unwrap();
        }
        assert_eq!(cell_rate.take(due, SECOND), Err(Duration::from_millis(500)));
        assert_eq!(cell_rate.take(due, SECOND + SECOND / 4), Err(Duration::from_millis(250)));
        due = cell_rate.take(due, SECOND + SECOND / 2).unwrap();
        assert!(cell_rate.take(due, SECOND + SECOND / 2).is_err());
    }

    fn rates() -> impl Strategy<Value = (Rate, u32, u64)> {
        (1..5000_u32, 1..50_u32, 0..3_usize).prop_map(|(count, burst, unit)| {
            let make = [Rate::per_second, Rate::per_minute, Rate::per_hour][unit];
            (make(count).burst(burst), burst, [1, 60, 3600][unit] * SECOND / u64::from(count))
        })
    }

    proptest! {
        #[test]
        fn no_stretch_of_time_has_more_calls_than_were_promised(
            (rate, burst, interval) in rates(),
            gaps in prop::collection::vec(0..4_u64, 1..200),
        ) {
            let cell_rate = CellRate::new(rate);
            let (mut due, mut now) = (0, SECOND);
            let mut passed = Vec::new();
            for gap in gaps {
                now += gap * interval / 3;
                if let Ok(next) = cell_rate.take(due, now) {
                    due = next;
                    passed.push(now);
                }
            }
            for (at, from) in passed.iter().enumerate() {
                for (count, to) in passed[at..].iter().enumerate() {
                    let most = u64::from(burst) + (to - from) / interval;
                    prop_assert!((count as u64) < most, "{} calls in {}", count + 1, to - from);
                }
            }
        }

        #[test]
        fn a_caller_that_waits_as_told_is_let_in_and_not_earlier(
            (rate, burst, _) in rates(),
            more in 0..20_u32,
        ) {
            let cell_rate = CellRate::new(rate);
            let (mut due, mut now) = (0, SECOND);
            for _ in 0..burst {
                due = cell_rate.take(due, now).unwrap();
            }
            for _ in 0..=more {
                let wait = u64::try_from(cell_rate.take(due, now).unwrap_err().as_nanos()).unwrap();
                prop_assert!(cell_rate.take(due, now + wait - 1).is_err());
                now += wait;
                due = cell_rate.take(due, now).unwrap();
            }
        }
    }
}
