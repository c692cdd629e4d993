//! Rate limit by the generic cell rate algorithm, with one number for each caller.

use std::time::Duration;

use crate::model::Rate;

/// Interval and slack of a rate, in nanoseconds. Times are nanoseconds since a common moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    interval: u64,
    slack: u64,
}

impl Pace {
    pub(super) fn new(rate: Rate) -> Self {
        Self { interval: rate.interval(), slack: rate.slack() }
    }

    /// Admits a call at `now` of a caller whose next call is due at `due`. Returns the due time of the call after it. A `due` time in the
    /// past is equal to that of a new caller.
    ///
    /// # Errors
    /// Fails if the call comes too early, and does not count. The error is the time to wait.
    pub(super) fn take(self, due: u64, now: u64) -> Result<u64, Duration> {
        let ahead = due.saturating_sub(now);
        if ahead > self.slack {
            return Err(Duration::from_nanos(ahead - self.slack));
        }
        Ok(due.max(now).saturating_add(self.interval))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn a_burst_passes_and_then_one_for_each_interval() {
        let pace = Pace::new(Rate::per_second(2).burst(3));
        let mut due = 0;
        for _ in 0..3 {
            due = pace.take(due, SECOND).unwrap();
        }
        assert_eq!(pace.take(due, SECOND), Err(Duration::from_millis(500)));
        assert_eq!(pace.take(due, SECOND + SECOND / 4), Err(Duration::from_millis(250)));
        due = pace.take(due, SECOND + SECOND / 2).unwrap();
        assert!(pace.take(due, SECOND + SECOND / 2).is_err());
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
            let pace = Pace::new(rate);
            let (mut due, mut now) = (0, SECOND);
            let mut passed = Vec::new();
            for gap in gaps {
                now += gap * interval / 3;
                if let Ok(next) = pace.take(due, now) {
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
            let pace = Pace::new(rate);
            let (mut due, mut now) = (0, SECOND);
            for _ in 0..burst {
                due = pace.take(due, now).unwrap();
            }
            for _ in 0..=more {
                let wait = u64::try_from(pace.take(due, now).unwrap_err().as_nanos()).unwrap();
                prop_assert!(pace.take(due, now + wait - 1).is_err());
                now += wait;
                due = pace.take(due, now).unwrap();
            }
        }
    }
}
