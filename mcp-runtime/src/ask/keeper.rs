//! How what a call must know gets from one of its rounds to the next.

use super::state::State;
use crate::{
    error::{Error, Result},
    wire::Raw,
};

#[cfg(feature = "ask")]
pub(crate) use sealed::Keeper;

/// Without sealing nothing is kept: a call has one round.
#[cfg(not(feature = "ask"))]
pub(crate) struct Keeper;

#[cfg(not(feature = "ask"))]
impl Keeper {
    pub(super) fn open(&self, sealed: Option<Raw<'_>>) -> Result<State> {
        match sealed.filter(|it| !it.is_null()) {
            None => Ok(State::default()),
            Some(_) => Err(Error::invalid_params("`requestState` was not made by this server")),
        }
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
    use crate::ask::{Bound, Sealer, Spent, seal::Broken, state};

    /// Seals it for one call, and opens it for the same.
    pub(crate) struct Keeper {
        pub(crate) bound: Bound,
        /// Bytes that may be kept.
        pub(crate) most: usize,
        pub(crate) sealer: Arc<Sealer>,
        /// Where rounds are marked that must not be sent twice.
        pub(crate) spent: Option<Arc<Spent>>,
    }

    impl Keeper {
        pub(in crate::ask) fn open(&self, sealed: Option<Raw<'_>>) -> Result<State> {
            let Some(sealed) = sealed.filter(|it| !it.is_null()) else {
                return Ok(State::default());
            };
            let refused = || {
                let text = "`requestState` is not what this call was answered with, or too old: start again without it";
                Error::invalid_params(text)
            };
            let sealed = sealed.string().ok_or_else(refused)?;
            let opened = self.sealer.open(&sealed, self.bound.as_bytes());
            let (text, nonce) = opened.map_err(|Broken| refused())?;
            let text = crate::wire::validate(&text, 128).map_err(|_| refused())?;
            let now = state::now();
            let state = State::read(text, now).ok_or_else(refused)?;
            if let Some(spent) = &self.spent {
                spent.spend(nonce, state::after(self.sealer.lifetime), now)?;
            }
            Ok(state)
        }

        pub(in crate::ask) fn close(&self, state: &State) -> Result<Option<String>> {
            let text = state.write(state::after(self.sealer.lifetime));
            if text.len() > self.most {
                let (key, size) = state.largest().unwrap_or_default();
                return Err(Error::internal(format!(
                    "what must be kept between rounds has {} bytes, at most {}: most of it, {size}, is `{key}`",
                    text.len(),
                    self.most
                )));
            }
            self.sealer.seal(&text, self.bound.as_bytes()).map(Some)
        }
    }
}
