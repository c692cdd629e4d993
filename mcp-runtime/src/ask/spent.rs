use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use super::storage::{Owner, RoundId, sent_already};
use crate::error::Error;

/// Rounds that must not be sent twice and have been sent once, until they expire by themselves.
#[derive(Default)]
pub(super) struct Spent(Mutex<Rounds>);

#[derive(Default)]
struct Rounds {
    /// When each expires, and whose it is.
    all: HashMap<[u8; 24], (u64, Name)>,
    /// How many each has, while it has any.
    of: HashMap<Name, usize>,
    /// When those that have expired were looked for.
    swept: u64,
}

/// Principal, by its hash. `None` stands for all callers without a principal.
type Name = Option<u64>;

impl Spent {
    /// Of all who have a name, and as many of those who have none.
    const MOST: usize = 65_536;

    /// Of one who has a name: nobody makes others wait.
    const OF_ONE: usize = 4096;

    /// Marks a round as sent.
    ///
    /// # Errors
    /// When it has been sent already, or there are too many to remember one more.
    pub(super) fn spend(&self, round: RoundId, owner: Owner, now: u64) -> Result<(), Error> {
        let name = owner.is_principal.then_some(owner.key);
        let mut rounds = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if rounds.all.contains_key(&round.bytes) {
            return Err(sent_already());
        }
        if !rounds.has_room(name) {
            rounds.sweep(now);
        }
        if !rounds.has_room(name) {
            return Err(Error::msg("too many conversations are going on: try again later"));
        }
        rounds.all.insert(round.bytes, (round.expires, name));
        *rounds.of.entry(name).or_default() += 1;
        Ok(())
    }
}

impl Rounds {
    fn has_room(&self, name: Name) -> bool {
        let of = |name| self.of.get(&name).copied().unwrap_or_default();
        match name {
            None => of(None) < Spent::MOST,
            Some(_) => of(name) < Spent::OF_ONE && self.all.len() - of(None) < Spent::MOST,
        }
    }

    fn sweep(&mut self, now: u64) {
        if self.swept == now {
            return;
        }
        self.swept = now;
        self.all.retain(|_, it| it.0 >= now);
        self.of.clear();
        for (_, name) in self.all.values() {
            *self.of.entry(*name).or_default() += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_makes_others_wait_and_no_round_is_sent_twice() {
        let spent = Spent::default();
        let round = |number: usize, expires: u64| {
            let mut bytes = [0; 24];
            bytes[..8].copy_from_slice(&number.to_le_bytes());
            RoundId { bytes, expires }
        };
        let [ada, grace, nobody] = [(1, true), (2, true), (3, false)]
            .map(|(key, is_principal)| Owner { key, is_principal });
        for number in 0..Spent::OF_ONE {
            assert!(spent.spend(round(number, 10), ada, 1).is_ok(), "{number}");
        }
        let more = Spent::OF_ONE;
        assert!(spent.spend(round(more, 10), ada, 2).is_err());
        assert!(
            spent.spend(round(more, 10), grace, 2).is_ok()
                && spent.spend(round(more + 1, 10), nobody, 2).is_ok()
        );
        for who in [ada, grace, nobody] {
            for sent in [0, more, more + 1] {
                let why = spent.spend(round(sent, 10), who, 2).unwrap_err();
                assert!(why.message().contains("sent already"));
            }
        }
        // What nobody could send again is forgotten.
        assert!(spent.spend(round(more + 2, 20), ada, 11).is_ok());
        assert_eq!(spent.0.lock().unwrap().all.len(), 1);
    }
}
