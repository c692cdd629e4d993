//! Storage of the state between rounds. It has two implementations: state in this process, and sealed state that the client holds.

use std::sync::Arc;

use crate::{
    call::context::BeginFuture,
    error::{Error, Result},
    limits::Tenant,
};

/// Storage of the state that calls keep between their rounds.
///
/// The client gets a text that identifies a state, and sends the text back in the next round. The text is not trusted. It gives access to
/// the state only for the same [`CallBinding`](super::CallBinding), and only until the state expires.
pub(crate) trait StateStorage: Send + Sync {
    /// Stores a state and returns the text that identifies it (`requestState`).
    ///
    /// # Errors
    /// Fails if the system provides no random numbers, or the storage is full.
    fn put(&self, state: &[u8], bound: &[u8], tenant: &Arc<Tenant>) -> Result<String>;

    /// Returns the state that a text identifies. The same text may be used several times.
    ///
    /// # Errors
    /// Fails if the text does not identify a state of this call, or the state has expired. The error does not reveal the reason, because the
    /// reason would help to forge a text. The only exception is a text that another process has created.
    fn get(&self, text: &str, bound: &[u8]) -> Result<StoredState>;

    /// Marks the round of a single-use call as used.
    ///
    /// # Errors
    /// Fails if the round has been used already, or if the storage is too full to remember the round.
    fn spend(&self, round: RoundId, tenant: &Arc<Tenant>) -> Result<()>;

    /// Returns a future that marks the round as used, if the used rounds are in a store that other servers share. In this case
    /// [`spend`](Self::spend) does nothing.
    fn spending(&self, _: RoundId) -> Option<BeginFuture> {
        None
    }

    /// Returns a digest of the text of a question. A client cannot find a different text with the same digest.
    fn digest(&self, words: &str) -> Result<String>;

    /// Returns whether `digest` is the digest of the text `words`.
    fn is_digest(&self, digest: &str, words: &str) -> bool;
}

/// State of an earlier round, as it was stored.
#[derive(Debug)]
pub(crate) struct StoredState {
    pub(super) text: Vec<u8>,
    pub(super) round: RoundId,
}

/// Unique identity of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    not(feature = "state-key"),
    allow(dead_code, reason = "only sealed state carries its expiry")
)]
pub(crate) struct RoundId {
    pub(super) bytes: [u8; 24],
    /// Time when the round expires, in seconds since 1970. Zero in a storage that tracks the expiry itself.
    pub(super) expires: u64,
}

/// Returns the error for a text that does not identify a state of the call.
pub(super) fn unknown_state() -> Error {
    Error::invalid_params(
        "`requestState` does not belong to this call, has expired or is no longer kept: call again without `requestState`",
    )
}

/// Returns the error for a single-use round whose state the client sends a second time.
pub(super) fn sent_already() -> Error {
    Error::invalid_params("this round has been sent already: call again without `requestState`")
}

/// Returns the error for a storage that is full.
pub(super) fn busy() -> Error {
    Error::msg("too many conversations are going on: try again later")
}

/// Storage of a server that shares a store with others, but was built without the feature that seals. A state in this process would be
/// unknown to the other servers, so calls cannot have several rounds.
#[cfg(not(feature = "state-key"))]
pub(super) struct NoStorage;

#[cfg(not(feature = "state-key"))]
impl StateStorage for NoStorage {
    fn put(&self, _: &[u8], _: &[u8], _: &Arc<Tenant>) -> Result<String> {
        Err(Error::internal(
            "this call asks its client, and servers that share a store need the feature `state-key` for that: run `cargo add mcp-runtime --features state-key`",
        ))
    }

    fn get(&self, _: &str, _: &[u8]) -> Result<StoredState> {
        Err(unknown_state())
    }

    fn spend(&self, _: RoundId, _: &Arc<Tenant>) -> Result<()> {
        Err(unknown_state())
    }

    fn digest(&self, _: &str) -> Result<String> {
        Ok(String::new())
    }

    fn is_digest(&self, _: &str, _: &str) -> bool {
        false
    }
}
