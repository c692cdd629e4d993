//! Encodes the state of a call for storage between two rounds, and decodes it in the next round.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use mcp_runtime_contract::collect::collect_by_insert;
use mcp_runtime_wire::{ObjectWriter, Raw, write};

#[cfg(not(feature = "state-key"))]
use super::storage::NoStorage;
use super::{
    bound::CallBinding,
    in_process::ProcessStorage,
    storage::{RoundId, StateStorage, unknown_state},
};
#[cfg(feature = "state-key")]
use super::{
    sealed::{SealedStorage, StateKeys, StateSealer},
    shared_keys::SharedKeys,
};
use crate::{
    call::context::BeginFuture,
    error::{Error, Result},
    limits::{Limit, Limits, RefusalCounters, Tenant},
    storage::{Store, StoreError},
};

/// Settings for the state that calls keep between their rounds.
#[derive(Clone)]
pub(crate) struct StateSettings {
    #[cfg(feature = "state-key")]
    pub(crate) keys: Vec<[u8; 32]>,
    pub(crate) lifetime: Duration,
}

impl Default for StateSettings {
    fn default() -> Self {
        Self {
            #[cfg(feature = "state-key")]
            keys: Vec::new(),
            lifetime: Duration::from_secs(15 * 60),
        }
    }
}

/// Storage and limits of the state between rounds, shared by all calls of a server.
pub(crate) struct RoundStates {
    storage: Box<dyn StateStorage>,
    /// Keys that all servers with the same store share. `None` if the author has set a key, or if the store is not shared.
    #[cfg(feature = "state-key")]
    shared_keys: Option<Arc<SharedKeys>>,
    tally: Arc<RefusalCounters>,
    /// Maximum size of a call's state, in bytes.
    most: usize,
    /// Maximum nesting depth of a message.
    depth: usize,
}

/// Access of one call to its state between rounds.
pub(crate) struct StateCodec {
    states: Arc<RoundStates>,
    bound: CallBinding,
    /// Tenant whose share of the limits the stored state counts against.
    tenant: Arc<Tenant>,
    /// Whether a client may send the state of each round back only once.
    is_single_use: bool,
}

impl RoundStates {
    /// Creates the storage: a `SealedStorage` if the author has set a key or if several servers share `store`, and
    /// otherwise a `ProcessStorage`.
    #[cfg(feature = "state-key")]
    pub(crate) fn new(
        settings: StateSettings,
        limits: &Limits,
        tally: Arc<RefusalCounters>,
        store: Option<&Arc<dyn Store>>,
    ) -> Self {
        let StateSettings { keys, lifetime } = settings;
        let shared = store.filter(|store| store.is_shared()).cloned();
        let (mut shared_keys, own) = (None, StateSealer::new(keys).map(StateKeys::new));
        let keys = own.or_else(|| {
            let copy = Arc::<StateKeys>::default();
            shared_keys = Some(Arc::new(SharedKeys::new(shared.clone()?, copy.clone(), lifetime)));
            Some(copy)
        });
        let storage: Box<dyn StateStorage> = match keys {
            Some(keys) => Box::new(SealedStorage::new(keys, lifetime, shared)),
            None => Box::new(ProcessStorage::new(lifetime, limits.all_state, tally.clone())),
        };
        Self { storage, shared_keys, tally, most: limits.state, depth: limits.depth }
    }

    /// Creates the storage: a `ProcessStorage`, unless several servers share `store`.
    #[cfg(not(feature = "state-key"))]
    pub(crate) fn new(
        settings: StateSettings,
        limits: &Limits,
        tally: Arc<RefusalCounters>,
        store: Option<&Arc<dyn Store>>,
    ) -> Self {
        let storage: Box<dyn StateStorage> = if store.is_some_and(Store::is_shared) {
            Box::new(NoStorage)
        } else {
            Box::new(ProcessStorage::new(settings.lifetime, limits.all_state, tally.clone()))
        };
        Self { storage, tally, most: limits.state, depth: limits.depth }
    }

    /// Reads the keys that all servers with the same store share. The first server creates them.
    ///
    /// # Errors
    /// Fails if the store cannot be used.
    pub(crate) async fn open(&self) -> Result<(), StoreError> {
        #[cfg(feature = "state-key")]
        if let Some(keys) = &self.shared_keys {
            keys.open().await?;
        }
        Ok(())
    }

    pub(crate) fn codec(
        self: &Arc<Self>,
        bound: CallBinding,
        tenant: Arc<Tenant>,
        is_single_use: bool,
    ) -> StateCodec {
        StateCodec { states: self.clone(), bound, tenant, is_single_use }
    }
}

impl StateCodec {
    /// Returns the state of the earlier rounds, and the id of the round that stored the state. In the first round, the state is empty and
    /// there is no id.
    pub(super) fn open(&self, text: Option<Raw<'_>>) -> Result<(RoundState, Option<RoundId>)> {
        let Some(text) = text.filter(|json| !json.is_null()) else {
            return Ok((RoundState::default(), None));
        };
        let text = text.string().ok_or_else(unknown_state)?;
        let stored = self.states.storage.get(&text, self.bound.as_bytes())?;
        let text =
            mcp_runtime_wire::validate(&stored.text, self.depth()).map_err(|_| unknown_state())?;
        Ok((RoundState::read(text), Some(stored.round)))
    }

    /// Maximum nesting depth of a stored state. Answers may be as deep as a message, and results of `once` have up to the 128 levels that
    /// serde reads. A state contains answers and results, and nests them two levels deeper.
    fn depth(&self) -> usize {
        self.states.depth.max(128) + 2
    }

    /// Returns whether answers from the client are accepted in this round. A single-use call accepts answers only together with the state
    /// of an earlier round.
    pub(super) fn takes_answers(&self, round: Option<RoundId>) -> bool {
        round.is_some() || !self.is_single_use
    }

    /// Marks the round of a single-use call as used, so that the client cannot send its state again.
    pub(super) fn spend(&self, round: RoundId) -> Result<()> {
        if !self.is_single_use {
            return Ok(());
        }
        self.states.storage.spend(round, &self.tenant)
    }

    /// Returns a future that marks the round of a single-use call as used, if the used rounds are in a store that other servers share.
    pub(super) fn spending(&self, round: RoundId) -> Option<BeginFuture> {
        if !self.is_single_use {
            return None;
        }
        self.states.storage.spending(round)
    }

    /// Returns a digest of the text of a question. The state contains this digest instead of the text.
    pub(super) fn digest(&self, words: &str) -> Result<String> {
        self.states.storage.digest(words)
    }

    pub(super) fn is_digest(&self, digest: &str, words: &str) -> bool {
        self.states.storage.is_digest(digest, words)
    }

    /// Stores the state for later rounds, and returns the `requestState` that the client sends back.
    pub(super) fn close(&self, state: &RoundState) -> Result<String> {
        let (text, most) = (state.write(), self.states.most);
        if text.len() > most {
            self.states.tally.refuse(Limit::State);
            let (key, size) = state.largest().unwrap_or_default();
            let why = format!(
                "the state to keep between rounds has {} bytes, at most {most} are allowed: `{key}` has most of them, {size}",
                text.len(),
            );
            // If the largest entry is an answer, the client has sent too much. Otherwise the handler has stored too much.
            let is_answer = state.answers.contains_key(key);
            return Err(if is_answer { Error::invalid_params(why) } else { Error::internal(why) });
        }
        self.states.storage.put(&text, self.bound.as_bytes(), &self.tenant)
    }
}

/// JSON texts by key.
pub(super) type Texts = BTreeMap<String, String>;

/// State that a call keeps from one round to the next.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct RoundState {
    /// Answers from the client, by the key of the question.
    pub(super) answers: Texts,
    /// Results of the `once` operations that have finished, by key.
    pub(super) done: Texts,
    /// Digests of the texts of the questions, by the key of the question.
    pub(super) asked: Texts,
}

impl RoundState {
    pub(super) fn write(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let mut object = ObjectWriter::begin(&mut out);
        for (name, texts) in [("a", &self.answers), ("d", &self.done)] {
            let mut members = object.object(name);
            for (key, json) in texts {
                write::raw(members.given_key(key), json);
            }
        }
        let mut asked = object.object("q");
        for (key, digest) in &self.asked {
            write::string(asked.given_key(key), digest);
        }
        asked.end();
        object.end();
        out
    }

    /// Parses the text that [`write`](Self::write) has returned.
    pub(super) fn read(text: Raw<'_>) -> Self {
        let [answers, done, asked] = text.pick(["a", "d", "q"]);
        let texts = |of: Option<Raw<'_>>| -> Texts {
            let members = of.unwrap_or(Raw::EMPTY_OBJECT).members();
            collect_by_insert(members.map(|(key, json)| (key.into(), json.as_str().into())))
        };
        let members = asked.unwrap_or(Raw::EMPTY_OBJECT).members();
        let digest = |json: Raw<'_>| json.string().unwrap_or_default().into();
        let asked = collect_by_insert(members.map(|(key, json)| (key.into(), digest(json))));
        Self { answers: texts(answers), done: texts(done), asked }
    }

    /// Returns the key of the largest entry, and the size of its key and value in bytes.
    pub(super) fn largest(&self) -> Option<(&str, usize)> {
        let all = self.answers.iter().chain(&self.done);
        all.map(|(key, json)| (&**key, key.len() + json.len())).max_by_key(|(_, size)| *size)
    }
}
