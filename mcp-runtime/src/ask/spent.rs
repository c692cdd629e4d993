use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use super::storage::{RoundId, busy, sent_already};
use crate::{
    error::Result,
    limits::{Pool, Share, Tenant},
};

/// Single-use rounds that have been sent. Each is remembered until it expires.
#[derive(Default)]
pub(super) struct Spent(Mutex<Rounds>);

#[derive(Default)]
struct Rounds {
    /// Expiry of each round, and its share of the rounds that may be remembered.
    all: HashMap<[u8; 24], (u64, Share)>,
    /// Time of the last search for expired rounds, in seconds since 1970.
    swept: u64,
}

impl Spent {
    /// Maximum number of rounds of all callers together.
    const MOST: usize = 65_536;

    /// Marks a round as sent.
    ///
    /// # Errors
    /// Fails if the round has been sent already, or too many rounds are remembered.
    pub(super) fn spend(&self, round: RoundId, tenant: &Arc<Tenant>, now: u64) -> Result<()> {
        let mut rounds = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if rounds.all.contains_key(&round.bytes) {
            return Err(sent_already());
        }
        let take = || tenant.take(Pool::SpentRounds, 1, Self::MOST);
        let share = take().or_else(|_| {
            rounds.sweep(now);
            take()
        });
        rounds.all.insert(round.bytes, (round.expires, share.map_err(|_| busy())?));
        Ok(())
    }
}

impl Rounds {
    /// Forgets expired rounds, at most once a second.
    fn sweep(&mut self, now: u64) {
        if self.swept != now {
            self.swept = now;
            self.all.retain(|_, it| it.0 >= now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::{Shares, Who};

    #[test]
    fn a_caller_with_many_rounds_leaves_room_for_others_and_no_round_is_sent_twice() {
        let (spent, shares) = (Spent::default(), Shares::default());
        let round = |number: usize, expires: u64| {
            let mut bytes = [0; 24];
            bytes[..8].copy_from_slice(&number.to_le_bytes());
            RoundId { bytes, expires }
        };
        let [ada, grace, unnamed] = ["ada", "grace", ""].map(|it| shares.tenant(Who::named(it)));
        let share = Spent::MOST - Spent::MOST / 8;
        for number in 0..share {
            assert!(spent.spend(round(number, 10), &ada, 1).is_ok(), "{number}");
        }
        let more = share;
        assert!(spent.spend(round(more, 10), &ada, 2).is_err());
        assert!(
            spent.spend(round(more, 10), &grace, 2).is_ok()
                && spent.spend(round(more + 1, 10), &unnamed, 2).is_ok()
        );
        for tenant in [&ada, &grace, &unnamed] {
            for sent in [0, more, more + 1] {
                let why = spent.spend(round(sent, 10), tenant, 2).unwrap_err();
                assert!(why.message().contains("sent already"));
            }
        }
        // Rounds that cannot be sent again are forgotten.
        assert!(spent.spend(round(more + 2, 20), &ada, 11).is_ok());
        assert_eq!(spent.0.lock().unwrap().all.len(), 1);
    }
}
