use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use crate::{ask::keeper::Nonce, error::Error};

/// Rounds that must not be sent twice and have been sent once, until they expire by themselves.
#[derive(Default)]
pub(crate) struct Spent(Mutex<HashMap<[u8; 24], u64>>);

impl Spent {
    const MOST: usize = 65_536;

    /// Marks a round as sent.
    ///
    /// # Errors
    /// When it has been sent already, or there are too many to remember one more.
    pub(super) fn spend(&self, nonce: Nonce, now: u64) -> Result<(), Error> {
        let mut spent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if spent.len() >= Self::MOST {
            spent.retain(|_, expires| *expires >= now);
        }
        if spent.len() >= Self::MOST {
            return Err(Error::msg("too many conversations are going on: try again later"));
        }
        match spent.insert(nonce.bytes, nonce.expires) {
            None => Ok(()),
            Some(_) => Err(Error::invalid_params(
                "this round has been sent already: start again without `requestState`",
            )),
        }
    }
}
