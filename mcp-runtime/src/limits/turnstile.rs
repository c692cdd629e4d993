use std::{sync::OnceLock, time::Duration};

use tokio::time::Instant;

use super::{
    callers::{Callers, Who},
    pace::Pace,
};
use crate::model::Rate;

/// Admits each caller as often as a rate allows.
pub struct Turnstile {
    rate: Rate,
    pace: Pace,
    callers: Callers,
    /// Time of the first attempt.
    since: OnceLock<Instant>,
}

impl Turnstile {
    /// Creates a turnstile that no caller has passed yet.
    pub fn new(rate: Rate) -> Self {
        Self { rate, pace: Pace::new(rate), callers: Callers::new(), since: OnceLock::new() }
    }

    pub(super) fn rate(&self) -> Rate {
        self.rate
    }

    /// Counts an attempt of a caller.
    ///
    /// # Errors
    /// Fails if the caller has to wait, and the attempt does not count. The error is the time to wait.
    pub fn pass(&self, who: Who<'_>) -> Result<(), Duration> {
        let now = self.now();
        let key = self.callers.key(who);
        let mut part = self.callers.part(key);
        let due = part.due(key, now);
        *due = self.pace.take(*due, now)?;
        Ok(())
    }

    /// Takes back an attempt that was counted.
    #[cfg(feature = "auth")]
    pub fn give_back(&self, who: Who<'_>) {
        let key = self.callers.key(who);
        let mut part = self.callers.part(key);
        let due = part.due(key, self.now());
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

#[cfg(all(test, feature = "auth"))]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_pass_that_is_given_back_may_be_taken_again() {
        let turnstile = Turnstile::new(Rate::per_minute(6).burst(3));
        let [ada, bob] = ["10.0.0.1", "10.0.0.2"].map(|it| Who::at(it.parse().unwrap()));
        let may = |who| turnstile.pass(who).is_ok();
        assert!((0..3).all(|_| may(ada)));
        assert!(!may(ada) && may(bob));
        turnstile.give_back(ada);
        assert!(may(ada) && !may(ada));
        turnstile.give_back(Who::Anybody);
        assert!((0..3).all(|_| may(Who::Anybody)) && !may(Who::Anybody));
        tokio::time::advance(Duration::from_secs(10)).await;
        assert!(may(ada) && !may(ada));
    }
}
