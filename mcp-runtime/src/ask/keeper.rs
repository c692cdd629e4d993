//! The way of a call's state from one round to the next.

use std::sync::Arc;

use super::{
    Bound,
    state::State,
    storage::{RoundId, StateStorage, unknown_state},
};
use crate::{
    error::{Error, Result},
    limits::{Limit, Limits, Tally, Tenant},
    wire::Raw,
};

/// State between rounds, of all calls of a server.
pub(crate) struct RoundStates {
    storage: Box<dyn StateStorage>,
    tally: Arc<Tally>,
    /// Bytes that a call may keep.
    most: usize,
    /// Arrays and objects inside one another in a message.
    depth: usize,
}

/// State between rounds, of one call.
pub(crate) struct Keeper {
    states: Arc<RoundStates>,
    bound: Bound,
    /// The caller that the rounds count for.
    tenant: Arc<Tenant>,
    /// Whether each round may be sent once.
    is_single_use: bool,
}

impl RoundStates {
    pub(crate) fn new(storage: Box<dyn StateStorage>, limits: &Limits, tally: Arc<Tally>) -> Self {
        Self { storage, tally, most: limits.state, depth: limits.depth }
    }

    pub(crate) fn keeper(
        self: &Arc<Self>,
        bound: Bound,
        tenant: Arc<Tenant>,
        is_single_use: bool,
    ) -> Keeper {
        Keeper { states: self.clone(), bound, tenant, is_single_use }
    }
}

impl Keeper {
    /// Returns what earlier rounds left, and the round that did.
    pub(super) fn open(&self, text: Option<Raw<'_>>) -> Result<(State, Option<RoundId>)> {
        let Some(text) = text.filter(|it| !it.is_null()) else {
            return Ok((State::default(), None));
        };
        let text = text.string().ok_or_else(unknown_state)?;
        let stored = self.states.storage.get(&text, self.bound.as_bytes())?;
        let text =
            crate::wire::validate(&stored.text, self.depth()).map_err(|_| unknown_state())?;
        Ok((State::read(text), Some(stored.round)))
    }

    /// As deep as an answer may be, and what `once` keeps: serde reads 128 levels. Here they lie two levels deeper.
    fn depth(&self) -> usize {
        self.states.depth.max(128) + 2
    }

    /// Whether answers may come: for single use only with the state that was given for them.
    pub(super) fn takes_answers(&self, round: Option<RoundId>) -> bool {
        round.is_some() || !self.is_single_use
    }

    /// Marks a round that must not be sent twice.
    pub(super) fn spend(&self, round: RoundId) -> Result<()> {
        if !self.is_single_use {
            return Ok(());
        }
        self.states.storage.spend(round, &self.tenant)
    }

    /// What stands for the words of a question.
    pub(super) fn digest(&self, words: &str) -> Result<String> {
        self.states.storage.digest(words)
    }

    pub(super) fn is_digest(&self, digest: &str, words: &str) -> bool {
        self.states.storage.is_digest(digest, words)
    }

    /// Stores what later rounds need, and returns the text that the client sends back.
    pub(super) fn close(&self, state: &State) -> Result<String> {
        let (text, most) = (state.write(), self.states.most);
        if text.len() > most {
            self.states.tally.refuse(Limit::State);
            let (key, size) = state.largest().unwrap_or_default();
            let why = format!(
                "what must be kept between rounds has {} bytes, at most {most}: most of it, {size}, is `{key}`",
                text.len(),
            );
            // Too long an answer is the client's doing, the rest the author's.
            let is_answer = state.answers.contains_key(key);
            return Err(if is_answer { Error::invalid_params(why) } else { Error::internal(why) });
        }
        self.states.storage.put(&text, self.bound.as_bytes(), &self.tenant)
    }
}
