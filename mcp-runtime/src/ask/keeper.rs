//! Carries the state of a call from one round to the next.

use std::sync::Arc;

use mcp_runtime_wire::Raw;

use super::{
    Bound,
    state::State,
    storage::{RoundId, StateStorage, unknown_state},
};
use crate::{
    error::{Error, Result},
    limits::{Limit, Limits, Tally, Tenant},
};

/// State between rounds, for all calls of a server.
pub(crate) struct RoundStates {
    storage: Box<dyn StateStorage>,
    tally: Arc<Tally>,
    /// Maximum size of the state of a call, in bytes.
    most: usize,
    /// Maximum nesting depth of a message.
    depth: usize,
}

/// State between rounds, for one call.
pub(crate) struct Keeper {
    states: Arc<RoundStates>,
    bound: Bound,
    /// Caller that the rounds count for.
    tenant: Arc<Tenant>,
    /// Whether each round may be sent only once.
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
    /// Returns the state of earlier rounds and the round that stored it. In a first round the state is empty.
    pub(super) fn open(&self, text: Option<Raw<'_>>) -> Result<(State, Option<RoundId>)> {
        let Some(text) = text.filter(|it| !it.is_null()) else {
            return Ok((State::default(), None));
        };
        let text = text.string().ok_or_else(unknown_state)?;
        let stored = self.states.storage.get(&text, self.bound.as_bytes())?;
        let text =
            mcp_runtime_wire::validate(&stored.text, self.depth()).map_err(|_| unknown_state())?;
        Ok((State::read(text), Some(stored.round)))
    }

    /// Maximum nesting depth of a stored state. Answers may be as deep as a message, and results of `once` as deep as serde reads (128
    /// levels). In the state both lie two levels deeper.
    fn depth(&self) -> usize {
        self.states.depth.max(128) + 2
    }

    /// Whether answers are accepted. A single-use call accepts them only together with a state.
    pub(super) fn takes_answers(&self, round: Option<RoundId>) -> bool {
        round.is_some() || !self.is_single_use
    }

    /// Marks the round of a single-use call as sent.
    pub(super) fn spend(&self, round: RoundId) -> Result<()> {
        if !self.is_single_use {
            return Ok(());
        }
        self.states.storage.spend(round, &self.tenant)
    }

    /// Returns a digest that stands for the words of a question.
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
            // The client is responsible for an answer that is too long, the author for everything else.
            let is_answer = state.answers.contains_key(key);
            return Err(if is_answer { Error::invalid_params(why) } else { Error::internal(why) });
        }
        self.states.storage.put(&text, self.bound.as_bytes(), &self.tenant)
    }
}
