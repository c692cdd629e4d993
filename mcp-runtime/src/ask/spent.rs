use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use crate::{
    ask::keeper::Nonce,
    error::Error,
    limits::{Pool, Share, Tenant},
};

/// Rounds that must not be sent twice and have been sent once, until they expire by themselves.
#[derive(Default)]
pub(crate) struct Spent {
    rounds: Mutex<Rounds>,
}

#[derive(Default)]
struct Rounds {
    /// When each expires, and its share of all that are kept.
    all: HashMap<[u8; 24], (u64, Share)>,
    /// When those that have expired were looked for.
    swept: u64,
}

/// The rounds of one caller.
pub(crate) struct Own {
    spent: Arc<Spent>,
    tenant: Arc<Tenant>,
}

impl Spent {
    /// Rounds of all callers together.
    const MOST: usize = 65_536;

    pub(crate) fn of(self: &Arc<Self>, tenant: Arc<Tenant>) -> Own {
        Own { spent: self.clone(), tenant }
    }
}

impl Rounds {
    /// Forgets those that have expired, if that was not done in this second.
    fn sweep(&mut self, now: u64) {
        if self.swept != now {
            self.swept = now;
            self.all.retain(|_, it| it.0 >= now);
        }
    }
}

impl Own {
    /// Marks a round as sent.
    ///
    /// # Errors
    /// When it has been sent already, or there are too many to remember one more.
    pub(super) fn spend(&self, nonce: Nonce, now: u64) -> Result<(), Error> {
        let mut rounds = self.spent.rounds.lock().unwrap_or_else(PoisonError::into_inner);
        if rounds.all.contains_key(&nonce.bytes) {
            return Err(Error::invalid_params(
                "this round has been sent already: start again without `requestState`",
            ));
        }
        let take = || self.tenant.take(Pool::Rounds, 1, Spent::MOST);
        let share = take().or_else(|_| {
            rounds.sweep(now);
            take()
        });
        let busy = |_| Error::msg("too many conversations are going on: try again later");
        rounds.all.insert(nonce.bytes, (nonce.expires, share.map_err(busy)?));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::{Shares, Who};

    #[test]
    fn a_caller_with_many_rounds_leaves_room_for_others_and_no_round_is_sent_twice() {
        let (spent, shares) = (Arc::<Spent>::default(), Shares::default());
        let nonce = |number: usize, expires: u64| {
            let mut bytes = [0; 24];
            bytes[..8].copy_from_slice(&number.to_le_bytes());
            Nonce { bytes, expires }
        };
        let [ada, grace, nobody] =
            ["ada", "grace", ""].map(|it| spent.of(shares.tenant(Who::named(it))));
        let share = Spent::MOST - Spent::MOST / 8;
        for number in 0..share {
            assert!(ada.spend(nonce(number, 10), 1).is_ok(), "{number}");
        }
        let more = share;
        assert!(ada.spend(nonce(more, 10), 2).is_err());
        assert!(
            grace.spend(nonce(more, 10), 2).is_ok() && nobody.spend(nonce(more + 1, 10), 2).is_ok()
        );
        for who in [&ada, &grace, &nobody] {
            for sent in [0, more, more + 1] {
                let why = who.spend(nonce(sent, 10), 2).unwrap_err();
                assert!(why.message().contains("sent already"));
            }
        }
        // Rounds that cannot be sent again are forgotten.
        assert!(ada.spend(nonce(more + 2, 20), 11).is_ok());
        assert_eq!(spent.rounds.lock().unwrap().all.len(), 1);
    }
}
