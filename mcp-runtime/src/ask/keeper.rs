//! How what a call must know gets from one of its rounds to the next.

use super::state::State;
use crate::{
    error::{Error, Result},
    wire::Raw,
};

#[cfg(feature = "ask")]
pub(crate) use sealed::Keeper;

/// What no two rounds have in common.
#[derive(Clone, Copy)]
#[cfg_attr(not(feature = "ask"), allow(dead_code, reason = "nothing is sealed"))]
pub(super) struct Nonce {
    pub(super) bytes: [u8; 24],
    /// When nobody can send it any more, in seconds since 1970.
    pub(super) expires: u64,
}

/// Without sealing nothing is kept: a call has one round.
#[cfg(not(feature = "ask"))]
pub(crate) struct Keeper;

#[cfg(not(feature = "ask"))]
impl Keeper {
    pub(super) fn open(&self, sealed: Option<Raw<'_>>) -> Result<(State, Option<Nonce>)> {
        match sealed.filter(|it| !it.is_null()) {
            None => Ok((State::default(), None)),
            Some(_) => Err(Error::invalid_params("`requestState` was not made by this server")),
        }
    }

    pub(super) fn takes_answers(&self, _: Option<Nonce>) -> bool {
        true
    }

    pub(super) fn spend(&self, _: Nonce) -> Result<()> {
        Ok(())
    }

    pub(super) fn digest(&self, _: &str) -> Result<Option<String>> {
        Ok(None)
    }

    pub(super) fn is_digest(&self, _: &str, _: &str) -> bool {
        false
    }

    pub(super) fn close(&self, state: &State) -> Result<Option<String>> {
        if *state == State::default() {
            return Ok(None);
        }
        let text = "a second round of questions, or `once`, needs the feature `ask` of mcp-runtime";
        Err(Error::internal(text))
    }
}

#[cfg(feature = "ask")]
mod sealed {
    use std::sync::Arc;

    use super::*;
    use crate::{
        ask::{Bound, Sealer, seal::Broken, spent::Own, state},
        limits::{Limit, Tally},
    };

    /// Seals it for one call, and opens it for the same.
    pub(crate) struct Keeper {
        pub(crate) bound: Bound,
        /// Bytes that may be kept.
        pub(crate) most: usize,
        /// Arrays and objects inside one another in a message.
        pub(crate) depth: usize,
        pub(crate) sealer: Arc<Sealer>,
        pub(crate) tally: Arc<Tally>,
        /// Where rounds are marked that must not be sent twice.
        pub(crate) spent: Option<Own>,
    }

    impl Keeper {
        pub(in crate::ask) fn open(
            &self,
            sealed: Option<Raw<'_>>,
        ) -> Result<(State, Option<Nonce>)> {
            let Some(sealed) = sealed.filter(|it| !it.is_null()) else {
                return Ok((State::default(), None));
            };
            let refused = || {
                let text = "`requestState` is not what this call was answered with, or too old: start again without it";
                Error::invalid_params(text)
            };
            let sealed = sealed.string().ok_or_else(refused)?;
            let opened = self.sealer.open(&sealed, self.bound.as_bytes());
            let (text, bytes) = opened.map_err(|Broken| refused())?;
            let text = crate::wire::validate(&text, self.depth()).map_err(|_| refused())?;
            let (state, expires) = State::read(text, state::now()).ok_or_else(refused)?;
            Ok((state, Some(Nonce { bytes, expires })))
        }

        /// As deep as an answer may be, and what `once` keeps: serde reads 128 levels. Here they lie two levels deeper.
        fn depth(&self) -> usize {
            self.depth.max(128) + 2
        }

        /// Whether answers may come: for single use only with the state that was given for them.
        pub(in crate::ask) fn takes_answers(&self, nonce: Option<Nonce>) -> bool {
            nonce.is_some() || self.spent.is_none()
        }

        /// Marks a round that must not be sent twice.
        pub(in crate::ask) fn spend(&self, nonce: Nonce) -> Result<()> {
            let Some(spent) = &self.spent else { return Ok(()) };
            spent.spend(nonce, state::now())
        }

        /// What stands for the words of a question.
        pub(in crate::ask) fn digest(&self, words: &str) -> Result<Option<String>> {
            self.sealer.digest(words.as_bytes()).map(Some)
        }

        pub(in crate::ask) fn is_digest(&self, digest: &str, words: &str) -> bool {
            self.sealer.is_digest(digest, words.as_bytes())
        }

        pub(in crate::ask) fn close(&self, state: &State) -> Result<Option<String>> {
            let text = state.write(state::after(self.sealer.lifetime));
            if text.len() > self.most {
                self.tally.refuse(Limit::State);
                let (key, size) = state.largest().unwrap_or_default();
                let why = format!(
                    "what must be kept between rounds has {} bytes, at most {}: most of it, {size}, is `{key}`",
                    text.len(),
                    self.most
                );
                // Too long an answer is the client's doing, the rest the author's.
                let is_answer = state.answers.contains_key(key);
                return Err(if is_answer {
                    Error::invalid_params(why)
                } else {
                    Error::internal(why)
                });
            }
            self.sealer.seal(&text, self.bound.as_bytes()).map(Some)
        }
    }
}

#[cfg(all(test, feature = "ask"))]
mod tests {
    use std::{sync::Arc, time::Duration};

    use super::*;
    use crate::ask::{Bound, Sealer, state};

    fn keeper(lifetime: u64) -> Keeper {
        Keeper {
            bound: Bound::default(),
            most: 1000,
            depth: 128,
            sealer: Arc::new(Sealer::new(vec![[1; 32]], Duration::from_secs(lifetime))),
            tally: Arc::default(),
            spent: None,
        }
    }

    /// A round is remembered for as long as somebody could send it again, whoever made it.
    #[test]
    fn a_round_lives_as_long_as_its_maker_said() {
        let sealed = keeper(1000).close(&State::default()).unwrap().unwrap();
        let sealed = format!("\"{sealed}\"");
        let (_, nonce) = keeper(1).open(Some(Raw::trusted(&sealed))).ok().unwrap();
        assert!(nonce.unwrap().expires >= state::now() + 990);
    }
}
