use std::{
    collections::HashMap,
    hash::{BuildHasher as _, RandomState},
    sync::{Arc, Mutex, PoisonError},
};

use crate::{ask::keeper::Nonce, error::Error};

/// Rounds that must not be sent twice and have been sent once, until they expire by themselves.
#[derive(Default)]
pub(crate) struct Spent {
    hasher: RandomState,
    rounds: Mutex<Rounds>,
}

#[derive(Default)]
struct Rounds {
    /// When each expires, and whose it is.
    all: HashMap<[u8; 24], (u64, Owner)>,
    /// How many each has, while it has any.
    of: HashMap<Owner, usize>,
    /// When those that have expired were looked for.
    swept: u64,
}

/// Somebody, by the hash of a name; `None` is everybody who has none.
type Owner = Option<u64>;

/// The rounds of one caller.
pub(crate) struct Own {
    spent: Arc<Spent>,
    owner: Owner,
}

impl Spent {
    /// Of all who have a name, and as many of those who have none.
    const MOST: usize = 65_536;

    /// Of one who has a name: nobody makes others wait.
    const OF_ONE: usize = 4096;

    pub(crate) fn of(self: &Arc<Self>, principal: &str) -> Own {
        let owner = (!principal.is_empty()).then(|| self.hasher.hash_one(principal));
        Own { spent: self.clone(), owner }
    }
}

impl Rounds {
    fn has_room(&self, owner: Owner) -> bool {
        let of = |owner| self.of.get(&owner).copied().unwrap_or_default();
        match owner {
            None => of(None) < Spent::MOST,
            Some(_) => of(owner) < Spent::OF_ONE && self.all.len() - of(None) < Spent::MOST,
        }
    }

    fn sweep(&mut self, now: u64) {
        if self.swept == now {
            return;
        }
        self.swept = now;
        self.all.retain(|_, it| it.0 >= now);
        self.of.clear();
        for (_, owner) in self.all.values() {
            *self.of.entry(*owner).or_default() += 1;
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
        if !rounds.has_room(self.owner) {
            rounds.sweep(now);
        }
        if !rounds.has_room(self.owner) {
            return Err(Error::msg("too many conversations are going on: try again later"));
        }
        rounds.all.insert(nonce.bytes, (nonce.expires, self.owner));
        *rounds.of.entry(self.owner).or_default() += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_makes_others_wait_and_no_round_is_sent_twice() {
        let spent = Arc::<Spent>::default();
        let nonce = |number: usize, expires: u64| {
            let mut bytes = [0; 24];
            bytes[..8].copy_from_slice(&number.to_le_bytes());
            Nonce { bytes, expires }
        };
        let [ada, grace, nobody] = ["ada", "grace", ""].map(|it| spent.of(it));
        for number in 0..Spent::OF_ONE {
            assert!(ada.spend(nonce(number, 10), 1).is_ok(), "{number}");
        }
        let more = Spent::OF_ONE;
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
        // What nobody could send again is forgotten.
        assert!(ada.spend(nonce(more + 2, 20), 11).is_ok());
        assert_eq!(spent.rounds.lock().unwrap().all.len(), 1);
    }
}
